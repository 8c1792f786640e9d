// RUN: whorl opt --constprop-onnx --onnx-const-prop-expansion-bound=1 --split-input-file %s | filecheck %s --check-prefix=BOUND1
// RUN: whorl opt --constprop-onnx --onnx-const-prop-expansion-bound=2 --split-input-file %s | filecheck %s --check-prefix=BOUND2
// RUN: whorl opt --constprop-onnx --split-input-file %s | filecheck %s --check-prefix=FREE
// RUN: whorl opt --constprop-onnx --onnx-const-prop-round-fp-to-int=true --split-input-file %s | filecheck %s --check-prefix=ROUND
// RUN: whorl opt --constprop-onnx --onnx-const-prop-disable-pattern=AddConstProp --onnx-const-prop-disable-pattern=CastofConst --split-input-file %s | filecheck %s --check-prefix=WITHOUT

func.func @sum_of_row_and_column() -> tensor<3x3xf32> {
  %a = "onnx.Constant"() {value = dense<1.0> : tensor<3x1xf32>} : () -> tensor<3x1xf32>
  %b = "onnx.Constant"() {value = dense<2.0> : tensor<1x3xf32>} : () -> tensor<1x3xf32>
  %c = "onnx.Add"(%a, %b) : (tensor<3x1xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  onnx.Return %c : tensor<3x3xf32>
}

// BOUND1-LABEL: func.func @sum_of_row_and_column() -> tensor<3x3xf32> {
// BOUND1-NEXT:   [[V0:%.+]] = onnx.Constant dense<1.000000e+00> : tensor<3x1xf32>
// BOUND1-NEXT:   [[V1:%.+]] = onnx.Constant dense<2.000000e+00> : tensor<1x3xf32>
// BOUND1-NEXT:   [[V2:%.+]] = "onnx.Add"([[V0]], [[V1]]) : (tensor<3x1xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
// BOUND1-NEXT:   onnx.Return [[V2]] : tensor<3x3xf32>
// BOUND1-NEXT:   }

// BOUND2-LABEL: func.func @sum_of_row_and_column() -> tensor<3x3xf32> {
// BOUND2-NEXT:   [[V0:%.+]] = onnx.Constant dense<3.000000e+00> : tensor<3x3xf32>
// BOUND2-NEXT:   onnx.Return [[V0]] : tensor<3x3xf32>
// BOUND2-NEXT:   }

// FREE-LABEL: func.func @sum_of_row_and_column() -> tensor<3x3xf32> {
// FREE-NEXT:   [[V0:%.+]] = onnx.Constant dense<3.000000e+00> : tensor<3x3xf32>
// FREE-NEXT:   onnx.Return [[V0]] : tensor<3x3xf32>
// FREE-NEXT:   }

// ROUND-LABEL: func.func @sum_of_row_and_column() -> tensor<3x3xf32> {
// ROUND-NEXT:   [[V0:%.+]] = onnx.Constant dense<3.000000e+00> : tensor<3x3xf32>
// ROUND-NEXT:   onnx.Return [[V0]] : tensor<3x3xf32>
// ROUND-NEXT:   }

// WITHOUT-LABEL: func.func @sum_of_row_and_column() -> tensor<3x3xf32> {
// WITHOUT-NEXT:   [[V0:%.+]] = onnx.Constant dense<1.000000e+00> : tensor<3x1xf32>
// WITHOUT-NEXT:   [[V1:%.+]] = onnx.Constant dense<2.000000e+00> : tensor<1x3xf32>
// WITHOUT-NEXT:   [[V2:%.+]] = "onnx.Add"([[V0]], [[V1]]) : (tensor<3x1xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
// WITHOUT-NEXT:   onnx.Return [[V2]] : tensor<3x3xf32>
// WITHOUT-NEXT:   }

// -----

func.func @padding() -> tensor<2x9xf32> {
  %a = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %p = onnx.Constant dense<[0, 7, 0, 0]> : tensor<4xi64>
  %none = "onnx.NoValue"() {value} : () -> none
  %b = "onnx.Pad"(%a, %p, %none, %none) {mode = "constant"} : (tensor<2x2xf32>, tensor<4xi64>, none, none) -> tensor<2x9xf32>
  onnx.Return %b : tensor<2x9xf32>
}

// BOUND1-LABEL: func.func @padding() -> tensor<2x9xf32> {
// BOUND1-NEXT:   [[V0:%.+]] = "onnx.NoValue"() <{value}> : () -> none
// BOUND1-NEXT:   [[V1:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// BOUND1-NEXT:   [[V2:%.+]] = onnx.Constant dense<[0, 7, 0, 0]> : tensor<4xi64>
// BOUND1-NEXT:   [[V3:%.+]] = "onnx.Pad"([[V1]], [[V2]], [[V0]], [[V0]]) <{mode = "constant"}> : (tensor<2x2xf32>, tensor<4xi64>, none, none) -> tensor<2x9xf32>
// BOUND1-NEXT:   onnx.Return [[V3]] : tensor<2x9xf32>
// BOUND1-NEXT:   }

// BOUND2-LABEL: func.func @padding() -> tensor<2x9xf32> {
// BOUND2-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 3.000000e+00, 4.000000e+00]]> : tensor<2x9xf32>
// BOUND2-NEXT:   onnx.Return [[V0]] : tensor<2x9xf32>
// BOUND2-NEXT:   }

// FREE-LABEL: func.func @padding() -> tensor<2x9xf32> {
// FREE-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 3.000000e+00, 4.000000e+00]]> : tensor<2x9xf32>
// FREE-NEXT:   onnx.Return [[V0]] : tensor<2x9xf32>
// FREE-NEXT:   }

// ROUND-LABEL: func.func @padding() -> tensor<2x9xf32> {
// ROUND-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 3.000000e+00, 4.000000e+00]]> : tensor<2x9xf32>
// ROUND-NEXT:   onnx.Return [[V0]] : tensor<2x9xf32>
// ROUND-NEXT:   }

// WITHOUT-LABEL: func.func @padding() -> tensor<2x9xf32> {
// WITHOUT-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 3.000000e+00, 4.000000e+00]]> : tensor<2x9xf32>
// WITHOUT-NEXT:   onnx.Return [[V0]] : tensor<2x9xf32>
// WITHOUT-NEXT:   }

// -----

func.func @expansion() -> tensor<16xf32> {
  %a = onnx.Constant dense<2.0> : tensor<1xf32>
  %s = onnx.Constant dense<[16]> : tensor<1xi64>
  %b = "onnx.Expand"(%a, %s) : (tensor<1xf32>, tensor<1xi64>) -> tensor<16xf32>
  onnx.Return %b : tensor<16xf32>
}

// BOUND1-LABEL: func.func @expansion() -> tensor<16xf32> {
// BOUND1-NEXT:   [[V0:%.+]] = onnx.Constant dense<2.000000e+00> : tensor<1xf32>
// BOUND1-NEXT:   [[V1:%.+]] = onnx.Constant dense<16> : tensor<1xi64>
// BOUND1-NEXT:   [[V2:%.+]] = "onnx.Expand"([[V0]], [[V1]]) : (tensor<1xf32>, tensor<1xi64>) -> tensor<16xf32>
// BOUND1-NEXT:   onnx.Return [[V2]] : tensor<16xf32>
// BOUND1-NEXT:   }

// BOUND2-LABEL: func.func @expansion() -> tensor<16xf32> {
// BOUND2-NEXT:   [[V0:%.+]] = onnx.Constant dense<2.000000e+00> : tensor<1xf32>
// BOUND2-NEXT:   [[V1:%.+]] = onnx.Constant dense<16> : tensor<1xi64>
// BOUND2-NEXT:   [[V2:%.+]] = "onnx.Expand"([[V0]], [[V1]]) : (tensor<1xf32>, tensor<1xi64>) -> tensor<16xf32>
// BOUND2-NEXT:   onnx.Return [[V2]] : tensor<16xf32>
// BOUND2-NEXT:   }

// FREE-LABEL: func.func @expansion() -> tensor<16xf32> {
// FREE-NEXT:   [[V0:%.+]] = onnx.Constant dense<2.000000e+00> : tensor<16xf32>
// FREE-NEXT:   onnx.Return [[V0]] : tensor<16xf32>
// FREE-NEXT:   }

// ROUND-LABEL: func.func @expansion() -> tensor<16xf32> {
// ROUND-NEXT:   [[V0:%.+]] = onnx.Constant dense<2.000000e+00> : tensor<16xf32>
// ROUND-NEXT:   onnx.Return [[V0]] : tensor<16xf32>
// ROUND-NEXT:   }

// WITHOUT-LABEL: func.func @expansion() -> tensor<16xf32> {
// WITHOUT-NEXT:   [[V0:%.+]] = onnx.Constant dense<2.000000e+00> : tensor<16xf32>
// WITHOUT-NEXT:   onnx.Return [[V0]] : tensor<16xf32>
// WITHOUT-NEXT:   }

// -----

func.func @cast_of_halves() -> tensor<6xi16> {
  %a = onnx.Constant dense<[-2.5, -0.5, 0.4, 0.5, 1.5, 1.7]> : tensor<6xf16>
  %b = "onnx.Cast"(%a) {to = i16} : (tensor<6xf16>) -> tensor<6xi16>
  onnx.Return %b : tensor<6xi16>
}

// BOUND1-LABEL: func.func @cast_of_halves() -> tensor<6xi16> {
// BOUND1-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-2, 0, 0, 0, 1, 1]> : tensor<6xi16>
// BOUND1-NEXT:   onnx.Return [[V0]] : tensor<6xi16>
// BOUND1-NEXT:   }

// BOUND2-LABEL: func.func @cast_of_halves() -> tensor<6xi16> {
// BOUND2-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-2, 0, 0, 0, 1, 1]> : tensor<6xi16>
// BOUND2-NEXT:   onnx.Return [[V0]] : tensor<6xi16>
// BOUND2-NEXT:   }

// FREE-LABEL: func.func @cast_of_halves() -> tensor<6xi16> {
// FREE-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-2, 0, 0, 0, 1, 1]> : tensor<6xi16>
// FREE-NEXT:   onnx.Return [[V0]] : tensor<6xi16>
// FREE-NEXT:   }

// ROUND-LABEL: func.func @cast_of_halves() -> tensor<6xi16> {
// ROUND-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-2, 0, 0, 0, 2, 2]> : tensor<6xi16>
// ROUND-NEXT:   onnx.Return [[V0]] : tensor<6xi16>
// ROUND-NEXT:   }

// WITHOUT-LABEL: func.func @cast_of_halves() -> tensor<6xi16> {
// WITHOUT-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-2.500000e+00, -5.000000e-01, 3.999020e-01, 5.000000e-01, 1.500000e+00, 1.700200e+00]> : tensor<6xf16>
// WITHOUT-NEXT:   [[V1:%.+]] = "onnx.Cast"([[V0]]) <{saturate = 1 : si64, to = i16}> : (tensor<6xf16>) -> tensor<6xi16>
// WITHOUT-NEXT:   onnx.Return [[V1]] : tensor<6xi16>
// WITHOUT-NEXT:   }

// -----

func.func @sum_then_sum(%x: tensor<2xi32>) -> tensor<2xi32> {
  %a = onnx.Constant dense<[1, 2]> : tensor<2xi32>
  %b = onnx.Constant dense<[3, 4]> : tensor<2xi32>
  %c = "onnx.Add"(%a, %b) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %d = "onnx.Add"(%c, %x) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  onnx.Return %d : tensor<2xi32>
}

// BOUND1-LABEL: func.func @sum_then_sum(%arg0: tensor<2xi32>) -> tensor<2xi32> {
// BOUND1-NEXT:   [[V0:%.+]] = onnx.Constant dense<[4, 6]> : tensor<2xi32>
// BOUND1-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// BOUND1-NEXT:   onnx.Return [[V1]] : tensor<2xi32>
// BOUND1-NEXT:   }

// BOUND2-LABEL: func.func @sum_then_sum(%arg0: tensor<2xi32>) -> tensor<2xi32> {
// BOUND2-NEXT:   [[V0:%.+]] = onnx.Constant dense<[4, 6]> : tensor<2xi32>
// BOUND2-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// BOUND2-NEXT:   onnx.Return [[V1]] : tensor<2xi32>
// BOUND2-NEXT:   }

// FREE-LABEL: func.func @sum_then_sum(%arg0: tensor<2xi32>) -> tensor<2xi32> {
// FREE-NEXT:   [[V0:%.+]] = onnx.Constant dense<[4, 6]> : tensor<2xi32>
// FREE-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// FREE-NEXT:   onnx.Return [[V1]] : tensor<2xi32>
// FREE-NEXT:   }

// ROUND-LABEL: func.func @sum_then_sum(%arg0: tensor<2xi32>) -> tensor<2xi32> {
// ROUND-NEXT:   [[V0:%.+]] = onnx.Constant dense<[4, 6]> : tensor<2xi32>
// ROUND-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// ROUND-NEXT:   onnx.Return [[V1]] : tensor<2xi32>
// ROUND-NEXT:   }

// WITHOUT-LABEL: func.func @sum_then_sum(%arg0: tensor<2xi32>) -> tensor<2xi32> {
// WITHOUT-NEXT:   [[V0:%.+]] = onnx.Constant dense<[1, 2]> : tensor<2xi32>
// WITHOUT-NEXT:   [[V1:%.+]] = onnx.Constant dense<[3, 4]> : tensor<2xi32>
// WITHOUT-NEXT:   [[V2:%.+]] = "onnx.Add"([[V0]], [[V1]]) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// WITHOUT-NEXT:   [[V3:%.+]] = "onnx.Add"([[V2]], %arg0) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// WITHOUT-NEXT:   onnx.Return [[V3]] : tensor<2xi32>
// WITHOUT-NEXT:   }
