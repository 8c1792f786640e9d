// RUN: whorl opt --shape-inference --constprop-onnx --split-input-file %s | filecheck %s

func.func @transpose_all() -> tensor<*xi32> {
  %a = onnx.Constant dense<[[[11, 12, 13, 14], [21, 22, 23, 24], [31, 32, 33, 34]], [[51, 52, 53, 54], [61, 62, 63, 64], [71, 72, 73, 74]]]> : tensor<2x3x4xi32>
  %b = "onnx.Transpose"(%a) : (tensor<2x3x4xi32>) -> tensor<*xi32>
  "onnx.Return"(%b) : (tensor<*xi32>) -> ()
}

// CHECK-LABEL: func.func @transpose_all() -> tensor<4x3x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[\[}}11, 51], [21, 61], [31, 71]], {{\[\[}}12, 52], [22, 62], [32, 72]], {{\[\[}}13, 53], [23, 63], [33, 73]], {{\[\[}}14, 54], [24, 64], [34, 74]]]> : tensor<4x3x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x3x2xi32>
// CHECK-NEXT:   }

// -----

func.func @transpose_021() -> tensor<*xi32> {
  %a = onnx.Constant dense<[[[11, 12, 13, 14], [21, 22, 23, 24], [31, 32, 33, 34]], [[51, 52, 53, 54], [61, 62, 63, 64], [71, 72, 73, 74]]]> : tensor<2x3x4xi32>
  %b = "onnx.Transpose"(%a) {perm = [0, 2, 1]} : (tensor<2x3x4xi32>) -> tensor<*xi32>
  "onnx.Return"(%b) : (tensor<*xi32>) -> ()
}

// CHECK-LABEL: func.func @transpose_021() -> tensor<2x4x3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[\[}}11, 21, 31], [12, 22, 32], [13, 23, 33], [14, 24, 34]], {{\[\[}}51, 61, 71], [52, 62, 72], [53, 63, 73], [54, 64, 74]]]> : tensor<2x4x3xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x4x3xi32>
// CHECK-NEXT:   }

// -----

func.func @transpose_102() -> tensor<*xi32> {
  %a = onnx.Constant dense<[[[11, 12, 13, 14], [21, 22, 23, 24], [31, 32, 33, 34]], [[51, 52, 53, 54], [61, 62, 63, 64], [71, 72, 73, 74]]]> : tensor<2x3x4xi32>
  %b = "onnx.Transpose"(%a) {perm = [1, 0, 2]} : (tensor<2x3x4xi32>) -> tensor<*xi32>
  "onnx.Return"(%b) : (tensor<*xi32>) -> ()
}

// CHECK-LABEL: func.func @transpose_102() -> tensor<3x2x4xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[\[}}11, 12, 13, 14], [51, 52, 53, 54]], {{\[\[}}21, 22, 23, 24], [61, 62, 63, 64]], {{\[\[}}31, 32, 33, 34], [71, 72, 73, 74]]]> : tensor<3x2x4xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2x4xi32>
// CHECK-NEXT:   }

// -----

func.func @unsqueeze() -> tensor<*xf32> {
  %a = onnx.Constant dense<[3.0, 9.0]> : tensor<2xf32>
  %x = onnx.Constant dense<[1, 2]> : tensor<2xi64>
  %b = "onnx.Unsqueeze"(%a, %x) : (tensor<2xf32>, tensor<2xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @unsqueeze() -> tensor<2x1x1xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[\[}}3.000000e+00]], {{\[\[}}9.000000e+00]]]> : tensor<2x1x1xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1x1xf32>
// CHECK-NEXT:   }

// -----

func.func @unsqueeze_of_nothing() -> tensor<*xf32> {
  %a = onnx.Constant dense<> : tensor<2x0xf32>
  %x = onnx.Constant dense<[1, 2]> : tensor<2xi64>
  %b = "onnx.Unsqueeze"(%a, %x) : (tensor<2x0xf32>, tensor<2xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @unsqueeze_of_nothing() -> tensor<2x1x1x0xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<> : tensor<2x1x1x0xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1x1x0xf32>
// CHECK-NEXT:   }

// -----

func.func @unsqueeze_of_version_11() -> tensor<*xf32> {
  %a = onnx.Constant dense<[3.0, 9.0]> : tensor<2xf32>
  %b = "onnx.UnsqueezeV11"(%a) {axes = [1, 2]} : (tensor<2xf32>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @unsqueeze_of_version_11() -> tensor<2x1x1xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[\[}}3.000000e+00]], {{\[\[}}9.000000e+00]]]> : tensor<2x1x1xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1x1xf32>
// CHECK-NEXT:   }

// -----

func.func @squeeze() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[[3.0]], [[9.0]]]> : tensor<2x1x1xf32>
  %x = onnx.Constant dense<[1, 2]> : tensor<2xi64>
  %b = "onnx.Squeeze"(%a, %x) : (tensor<2x1x1xf32>, tensor<2xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @squeeze() -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[3.000000e+00, 9.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @squeeze_of_version_11() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[[3.0]], [[9.0]]]> : tensor<2x1x1xf32>
  %b = "onnx.SqueezeV11"(%a) {axes = [1, 2]} : (tensor<2x1x1xf32>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @squeeze_of_version_11() -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[3.000000e+00, 9.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @split_rows() -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %s = onnx.Constant dense<[1, 1]> : tensor<2xi64>
  %a = onnx.Constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32>
  %p, %q = "onnx.Split"(%a, %s) {axis = 0 : si64} : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<1x4xf32>, tensor<1x4xf32>)
  "onnx.Return"(%p, %q) : (tensor<1x4xf32>, tensor<1x4xf32>) -> ()
}

// CHECK-LABEL: func.func @split_rows() -> (tensor<1x4xf32>, tensor<1x4xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]]> : tensor<1x4xf32>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<{{\[\[}}4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00]]> : tensor<1x4xf32>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<1x4xf32>, tensor<1x4xf32>
// CHECK-NEXT:   }

// -----

func.func @split_columns() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %s = onnx.Constant dense<[2, 2]> : tensor<2xi64>
  %a = onnx.Constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32>
  %p, %q = "onnx.Split"(%a, %s) {axis = 1 : si64} : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  "onnx.Return"(%p, %q) : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
}

// CHECK-LABEL: func.func @split_columns() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 1.000000e+00], [4.000000e+00, 5.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<{{\[\[}}2.000000e+00, 3.000000e+00], [6.000000e+00, 7.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<2x2xf32>, tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @split_of_a_value_stays(%a: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %s = onnx.Constant dense<[2, 2]> : tensor<2xi64>
  %p, %q = "onnx.Split"(%a, %s) {axis = 1 : si64} : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  "onnx.Return"(%p, %q) : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
}

// CHECK-LABEL: func.func @split_of_a_value_stays(%arg0: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<2> : tensor<2xi64>
// CHECK-NEXT:   [[V1:%.+]]:2 = "onnx.Split"(%arg0, [[V0]]) <{axis = 1 : si64}> : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
// CHECK-NEXT:   onnx.Return [[V1]]#0, [[V1]]#1 : tensor<2x2xf32>, tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @split_without_lengths() -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %a = onnx.Constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32>
  %p, %q = "onnx.Split"(%a, %none) {axis = 0 : si64} : (tensor<2x4xf32>, none) -> (tensor<1x4xf32>, tensor<1x4xf32>)
  "onnx.Return"(%p, %q) : (tensor<1x4xf32>, tensor<1x4xf32>) -> ()
}

// CHECK-LABEL: func.func @split_without_lengths() -> (tensor<1x4xf32>, tensor<1x4xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]]> : tensor<1x4xf32>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<{{\[\[}}4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00]]> : tensor<1x4xf32>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<1x4xf32>, tensor<1x4xf32>
// CHECK-NEXT:   }

// -----

func.func @split_columns_without_lengths() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %a = onnx.Constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32>
  %p, %q = "onnx.Split"(%a, %none) {axis = 1 : si64} : (tensor<2x4xf32>, none) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  "onnx.Return"(%p, %q) : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
}

// CHECK-LABEL: func.func @split_columns_without_lengths() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 1.000000e+00], [4.000000e+00, 5.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<{{\[\[}}2.000000e+00, 3.000000e+00], [6.000000e+00, 7.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<2x2xf32>, tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @split_of_version_11() -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %a = onnx.Constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32>
  %p, %q = "onnx.SplitV11"(%a) {axis = 0 : si64} : (tensor<2x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>)
  "onnx.Return"(%p, %q) : (tensor<1x4xf32>, tensor<1x4xf32>) -> ()
}

// CHECK-LABEL: func.func @split_of_version_11() -> (tensor<1x4xf32>, tensor<1x4xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]]> : tensor<1x4xf32>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<{{\[\[}}4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00]]> : tensor<1x4xf32>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<1x4xf32>, tensor<1x4xf32>
// CHECK-NEXT:   }

// -----

func.func @split_columns_of_version_11() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %a = onnx.Constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf32>
  %p, %q = "onnx.SplitV11"(%a) {axis = 1 : si64} : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  "onnx.Return"(%p, %q) : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
}

// CHECK-LABEL: func.func @split_columns_of_version_11() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 1.000000e+00], [4.000000e+00, 5.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<{{\[\[}}2.000000e+00, 3.000000e+00], [6.000000e+00, 7.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<2x2xf32>, tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @slice() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %s = onnx.Constant dense<[0, 0]> : tensor<2xi64>
  %e = onnx.Constant dense<[2, 1]> : tensor<2xi64>
  %x = onnx.Constant dense<[0, 1]> : tensor<2xi64>
  %p = onnx.Constant dense<[1, 1]> : tensor<2xi64>
  %b = "onnx.Slice"(%a, %s, %e, %x, %p) : (tensor<3x2xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @slice() -> tensor<2x1xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00], [3.000000e+00]]> : tensor<2x1xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1xf32>
// CHECK-NEXT:   }

// -----

func.func @slice_backwards() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %s = onnx.Constant dense<[-1, 1]> : tensor<2xi64>
  %e = onnx.Constant dense<[0, -9]> : tensor<2xi64>
  %x = onnx.Constant dense<[0, 1]> : tensor<2xi64>
  %p = onnx.Constant dense<[-1, -1]> : tensor<2xi64>
  %b = "onnx.Slice"(%a, %s, %e, %x, %p) : (tensor<3x2xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @slice_backwards() -> tensor<2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}6.000000e+00, 5.000000e+00], [4.000000e+00, 3.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @slice_of_nothing() -> tensor<*xf32> {
  %a = onnx.Constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %s = onnx.Constant dense<[2]> : tensor<1xi64>
  %e = onnx.Constant dense<[2]> : tensor<1xi64>
  %x = onnx.Constant dense<[0]> : tensor<1xi64>
  %p = onnx.Constant dense<[1]> : tensor<1xi64>
  %b = "onnx.Slice"(%a, %s, %e, %x, %p) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @slice_of_nothing() -> tensor<0xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<> : tensor<0xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<0xf32>
// CHECK-NEXT:   }

// -----

func.func @pad() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[1.0, 1.5], [2.0, 2.5]]> : tensor<2x2xf32>
  %p = onnx.Constant dense<[0, 1, 1, 0]> : tensor<4xi64>
  %none = "onnx.NoValue"() {value} : () -> none
  %b = "onnx.Pad"(%a, %p, %none, %none) {mode = "constant"} : (tensor<2x2xf32>, tensor<4xi64>, none, none) -> tensor<*xf32>
  onnx.Return %b : tensor<*xf32>
}

// CHECK-LABEL: func.func @pad() -> tensor<3x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 1.000000e+00, 1.500000e+00], [0.000000e+00, 2.000000e+00, 2.500000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00]]> : tensor<3x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x3xf32>
// CHECK-NEXT:   }

// -----

func.func @pad_of_a_scalar() -> tensor<*xf32> {
  %a = onnx.Constant dense<2.71> : tensor<f32>
  %p = onnx.Constant dense<[]> : tensor<0xi64>
  %none = "onnx.NoValue"() {value} : () -> none
  %b = "onnx.Pad"(%a, %p, %none, %none) {mode = "constant"} : (tensor<f32>, tensor<0xi64>, none, none) -> tensor<*xf32>
  onnx.Return %b : tensor<*xf32>
}

// CHECK-LABEL: func.func @pad_of_a_scalar() -> tensor<f32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<2.710000e+00> : tensor<f32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<f32>
// CHECK-NEXT:   }

// -----

func.func @pad_of_nothing() -> tensor<*xf16> {
  %a = onnx.Constant dense<[[], []]> : tensor<2x0xf16>
  %p = onnx.Constant dense<[0, 1, 1, 0]> : tensor<4xi64>
  %none = "onnx.NoValue"() {value} : () -> none
  %v = onnx.Constant dense<2.71> : tensor<f16>
  %b = "onnx.Pad"(%a, %p, %v, %none) {mode = "constant"} : (tensor<2x0xf16>, tensor<4xi64>, tensor<f16>, none) -> tensor<*xf16>
  onnx.Return %b : tensor<*xf16>
}

// CHECK-LABEL: func.func @pad_of_nothing() -> tensor<3x1xf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<2.710940e+00> : tensor<3x1xf16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x1xf16>
// CHECK-NEXT:   }

// -----

func.func @pad_by_the_edge_stays() -> tensor<*xf16> {
  %a = onnx.Constant dense<1.5> : tensor<2x2xf16>
  %p = onnx.Constant dense<[0, 0, 0, 0]> : tensor<4xi64>
  %none = "onnx.NoValue"() {value} : () -> none
  %b = "onnx.Pad"(%a, %p, %none, %none) {mode = "edge"} : (tensor<2x2xf16>, tensor<4xi64>, none, none) -> tensor<*xf16>
  onnx.Return %b : tensor<*xf16>
}

// CHECK-LABEL: func.func @pad_by_the_edge_stays() -> tensor<2x2xf16> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.NoValue"() <{value}> : () -> none
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<1.500000e+00> : tensor<2x2xf16>
// CHECK-NEXT:   [[V2:%.+]] = onnx.Constant dense<0> : tensor<4xi64>
// CHECK-NEXT:   [[V3:%.+]] = "onnx.Pad"([[V1]], [[V2]], [[V0]], [[V0]]) <{mode = "edge"}> : (tensor<2x2xf16>, tensor<4xi64>, none, none) -> tensor<2x2xf16>
// CHECK-NEXT:   onnx.Return [[V3]] : tensor<2x2xf16>
// CHECK-NEXT:   }

// -----

func.func @pad_with_a_value() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[1.0, 1.5], [2.0, 2.5]]> : tensor<2x2xf32>
  %p = onnx.Constant dense<[1, 0, 0, 1]> : tensor<4xi64>
  %none = "onnx.NoValue"() {value} : () -> none
  %v = onnx.Constant dense<9.0> : tensor<f32>
  %b = "onnx.Pad"(%a, %p, %v, %none) {mode = "constant"} : (tensor<2x2xf32>, tensor<4xi64>, tensor<f32>, none) -> tensor<*xf32>
  onnx.Return %b : tensor<*xf32>
}

// CHECK-LABEL: func.func @pad_with_a_value() -> tensor<3x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}9.000000e+00, 9.000000e+00, 9.000000e+00], [1.000000e+00, 1.500000e+00, 9.000000e+00], [2.000000e+00, 2.500000e+00, 9.000000e+00]]> : tensor<3x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x3xf32>
// CHECK-NEXT:   }

// -----

func.func @concat() -> tensor<*xf32> {
  %c0 = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c1 = onnx.Constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %r = "onnx.Concat"(%c0, %c1) {axis = 0 : si64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  "onnx.Return"(%r) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @concat() -> tensor<4x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00]]> : tensor<4x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2xf32>
// CHECK-NEXT:   }

// -----

func.func @concat_of_integers() -> tensor<*xi32> {
  %c0 = onnx.Constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %c1 = onnx.Constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %r = "onnx.Concat"(%c0, %c1) {axis = 0 : si64} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<*xi32>
  "onnx.Return"(%r) : (tensor<*xi32>) -> ()
}

// CHECK-LABEL: func.func @concat_of_integers() -> tensor<4x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2xi32>
// CHECK-NEXT:   }

// -----

func.func @concat_of_three() -> tensor<*xf32> {
  %c0 = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c1 = onnx.Constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %c2 = onnx.Constant dense<0.5> : tensor<2x2xf32>
  %r = "onnx.Concat"(%c0, %c1, %c2) {axis = 0 : si64} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  "onnx.Return"(%r) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @concat_of_three() -> tensor<6x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00], [5.000000e-01, 5.000000e-01], [5.000000e-01, 5.000000e-01]]> : tensor<6x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<6x2xf32>
// CHECK-NEXT:   }

// -----

func.func @concat_along_the_last_axis() -> tensor<*xf32> {
  %c0 = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c1 = onnx.Constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %r = "onnx.Concat"(%c0, %c1) {axis = -1 : si64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<*xf32>
  "onnx.Return"(%r) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @concat_along_the_last_axis() -> tensor<2x4xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 5.000000e+00, 6.000000e+00], [3.000000e+00, 4.000000e+00, 7.000000e+00, 8.000000e+00]]> : tensor<2x4xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x4xf32>
// CHECK-NEXT:   }

// -----

func.func @expand() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = onnx.Constant dense<[2, 2, 2]> : tensor<3xi64>
  %b = "onnx.Expand"(%a, %s) : (tensor<2x2xf32>, tensor<3xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @expand() -> tensor<2x2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]], {{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]]> : tensor<2x2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @expand_of_a_column() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[1.0], [3.0]]> : tensor<2x1xf32>
  %s = onnx.Constant dense<[2, 2, 2]> : tensor<3xi64>
  %b = "onnx.Expand"(%a, %s) : (tensor<2x1xf32>, tensor<3xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @expand_of_a_column() -> tensor<2x2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[\[}}1.000000e+00, 1.000000e+00], [3.000000e+00, 3.000000e+00]], {{\[\[}}1.000000e+00, 1.000000e+00], [3.000000e+00, 3.000000e+00]]]> : tensor<2x2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @expand_to_fewer_axes() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[[1.0], [3.0]]]> : tensor<1x2x1xf32>
  %s = onnx.Constant dense<[1, 3]> : tensor<2xi64>
  %b = "onnx.Expand"(%a, %s) : (tensor<1x2x1xf32>, tensor<2xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @expand_to_fewer_axes() -> tensor<1x2x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[\[}}1.000000e+00, 1.000000e+00, 1.000000e+00], [3.000000e+00, 3.000000e+00, 3.000000e+00]]]> : tensor<1x2x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x2x3xf32>
// CHECK-NEXT:   }

// -----

func.func @gather_rows() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[1.0, 1.5, 2.0], [3.0, 3.5, 4.0], [5.0, 5.5, 6.0]]> : tensor<3x3xf32>
  %i = onnx.Constant dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>
  %b = "onnx.Gather"(%a, %i) {axis = 0 : si64} : (tensor<3x3xf32>, tensor<2x2xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @gather_rows() -> tensor<2x2x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[\[}}1.000000e+00, 1.500000e+00, 2.000000e+00], [3.000000e+00, 3.500000e+00, 4.000000e+00]], {{\[\[}}3.000000e+00, 3.500000e+00, 4.000000e+00], [5.000000e+00, 5.500000e+00, 6.000000e+00]]]> : tensor<2x2x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2x3xf32>
// CHECK-NEXT:   }

// -----

func.func @gather_columns() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[1.0, 1.5, 2.0], [3.0, 3.5, 4.0], [5.0, 5.5, 6.0]]> : tensor<3x3xf32>
  %i = onnx.Constant dense<[[0, 2]]> : tensor<1x2xi64>
  %b = "onnx.Gather"(%a, %i) {axis = 1 : si64} : (tensor<3x3xf32>, tensor<1x2xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @gather_columns() -> tensor<3x1x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00]], {{\[\[}}3.000000e+00, 4.000000e+00]], {{\[\[}}5.000000e+00, 6.000000e+00]]]> : tensor<3x1x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x1x2xf32>
// CHECK-NEXT:   }

// -----

func.func @gather_from_the_end() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[1.0, 1.5, 2.0], [3.0, 3.5, 4.0], [5.0, 5.5, 6.0]]> : tensor<3x3xf32>
  %i = onnx.Constant dense<[[0, -1]]> : tensor<1x2xi64>
  %b = "onnx.Gather"(%a, %i) {axis = 1 : si64} : (tensor<3x3xf32>, tensor<1x2xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @gather_from_the_end() -> tensor<3x1x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00]], {{\[\[}}3.000000e+00, 4.000000e+00]], {{\[\[}}5.000000e+00, 6.000000e+00]]]> : tensor<3x1x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x1x2xf32>
// CHECK-NEXT:   }

// -----

func.func @gather_one_row() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[1.0, 1.5, 2.0], [3.0, 3.5, 4.0], [5.0, 5.5, 6.0]]> : tensor<3x3xf32>
  %i = onnx.Constant dense<1> : tensor<i32>
  %b = "onnx.Gather"(%a, %i) {axis = 0 : si64} : (tensor<3x3xf32>, tensor<i32>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @gather_one_row() -> tensor<3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[3.000000e+00, 3.500000e+00, 4.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xf32>
// CHECK-NEXT:   }

// -----

func.func @reshape() -> tensor<*xf32> {
  %a = onnx.Constant dense<[[1.0, 1.5, 2.0], [3.0, 3.5, 4.0], [5.0, 5.5, 6.0]]> : tensor<3x3xf32>
  %s = onnx.Constant dense<[1, -1]> : tensor<2xi64>
  %b = "onnx.Reshape"(%a, %s) : (tensor<3x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  "onnx.Return"(%b) : (tensor<*xf32>) -> ()
}

// CHECK-LABEL: func.func @reshape() -> tensor<1x9xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 1.500000e+00, 2.000000e+00, 3.000000e+00, 3.500000e+00, 4.000000e+00, 5.000000e+00, 5.500000e+00, 6.000000e+00]]> : tensor<1x9xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x9xf32>
// CHECK-NEXT:   }

// -----

func.func @constant_of_shape() -> tensor<4xi64> {
  %s = onnx.Constant dense<4> : tensor<1xi64>
  %b = "onnx.ConstantOfShape"(%s) {value = dense<7> : tensor<1xi64>} : (tensor<1xi64>) -> tensor<4xi64>
  "onnx.Return"(%b) : (tensor<4xi64>) -> ()
}

// CHECK-LABEL: func.func @constant_of_shape() -> tensor<4xi64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<7> : tensor<4xi64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4xi64>
// CHECK-NEXT:   }

// -----

func.func @constant_of_no_shape() -> tensor<f32> {
  %s = onnx.Constant dense<> : tensor<0xi64>
  %b = "onnx.ConstantOfShape"(%s) {value = dense<3.0> : tensor<1xf32>} : (tensor<0xi64>) -> tensor<f32>
  "onnx.Return"(%b) : (tensor<f32>) -> ()
}

// CHECK-LABEL: func.func @constant_of_no_shape() -> tensor<f32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<f32>
// CHECK-NEXT:   }

// -----

func.func @constant_of_shape_short_form() -> tensor<2x2xf32> {
  %s = onnx.Constant dense<2> : tensor<2xi64>
  %b = onnx.ConstantOfShape(%s) {value = dense<3.0> : tensor<1xf32>} : (tensor<2xi64>) -> tensor<2x2xf32>
  onnx.Return %b : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @constant_of_shape_short_form() -> tensor<2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<3.000000e+00> : tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @range() -> tensor<6xi16> {
  %a = onnx.Constant dense<3> : tensor<i16>
  %l = onnx.Constant dense<9> : tensor<i16>
  %d = onnx.Constant dense<1> : tensor<i16>
  %r = "onnx.Range"(%a, %l, %d) : (tensor<i16>, tensor<i16>, tensor<i16>) -> tensor<6xi16>
  onnx.Return %r : tensor<6xi16>
}

// CHECK-LABEL: func.func @range() -> tensor<6xi16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[3, 4, 5, 6, 7, 8]> : tensor<6xi16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<6xi16>
// CHECK-NEXT:   }

// -----

func.func @range_backwards() -> tensor<3xi16> {
  %a = onnx.Constant dense<9> : tensor<i16>
  %l = onnx.Constant dense<3> : tensor<i16>
  %d = onnx.Constant dense<-2> : tensor<i16>
  %r = "onnx.Range"(%a, %l, %d) : (tensor<i16>, tensor<i16>, tensor<i16>) -> tensor<3xi16>
  onnx.Return %r : tensor<3xi16>
}

// CHECK-LABEL: func.func @range_backwards() -> tensor<3xi16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[9, 7, 5]> : tensor<3xi16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi16>
// CHECK-NEXT:   }

// -----

func.func @range_of_nothing() -> tensor<*xi16> {
  %a = onnx.Constant dense<3> : tensor<i16>
  %l = onnx.Constant dense<0> : tensor<i16>
  %d = onnx.Constant dense<1> : tensor<i16>
  %r = "onnx.Range"(%a, %l, %d) : (tensor<i16>, tensor<i16>, tensor<i16>) -> tensor<*xi16>
  onnx.Return %r : tensor<*xi16>
}

// CHECK-LABEL: func.func @range_of_nothing() -> tensor<0xi16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<> : tensor<0xi16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<0xi16>
// CHECK-NEXT:   }

// -----

func.func @range_of_floats() -> tensor<3xf32> {
  %a = onnx.Constant dense<0.5> : tensor<f32>
  %l = onnx.Constant dense<2.0> : tensor<f32>
  %d = onnx.Constant dense<0.5> : tensor<f32>
  %r = "onnx.Range"(%a, %l, %d) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<3xf32>
  onnx.Return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @range_of_floats() -> tensor<3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[5.000000e-01, 1.000000e+00, 1.500000e+00]> : tensor<3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xf32>
// CHECK-NEXT:   }

// -----

func.func @nonzero() -> tensor<2x?xi64> {
  %a = "onnx.Constant"() {value = dense<[[3, 0], [1, 2], [0, 0]]> : tensor<3x2xi8>} : () -> tensor<3x2xi8>
  %r = "onnx.NonZero"(%a) : (tensor<3x2xi8>) -> tensor<2x?xi64>
  onnx.Return %r : tensor<2x?xi64>
}

// CHECK-LABEL: func.func @nonzero() -> tensor<2x?xi64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0, 1, 1], [0, 0, 1]]> : tensor<2x3xi64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x3xi64>
// CHECK-NEXT:   }

// -----

func.func @scatternd() -> tensor<6xf32> {
  %a = onnx.Constant {name = "c.0", value = dense<[1., 2., 3., 4., 5., 6.]> : tensor<6xf32>} : tensor<6xf32>
  %i = onnx.Constant {name = "c.1", value = dense<[[4], [1]]> : tensor<2x1xi64>} : tensor<2x1xi64>
  %u = onnx.Constant {name = "c.2", value = dense<[9., 8.]> : tensor<2xf32>} : tensor<2xf32>
  %r = "onnx.ScatterND"(%a, %i, %u) {node_name = "s", node_type = "ScatterND"} : (tensor<6xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<6xf32>
  onnx.Return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @scatternd() -> tensor<6xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[1.000000e+00, 8.000000e+00, 3.000000e+00, 4.000000e+00, 9.000000e+00, 6.000000e+00]> : tensor<6xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<6xf32>
// CHECK-NEXT:   }

// -----

func.func @scatternd_from_the_end() -> tensor<4xf32> {
  %a = onnx.Constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %i = onnx.Constant dense<[[-1]]> : tensor<1x1xi64>
  %u = onnx.Constant dense<[9.0]> : tensor<1xf32>
  %r = "onnx.ScatterND"(%a, %i, %u) : (tensor<4xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<4xf32>
  onnx.Return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @scatternd_from_the_end() -> tensor<4xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 9.000000e+00]> : tensor<4xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4xf32>
// CHECK-NEXT:   }

// -----

func.func @scatternd_rows() -> tensor<3x2xi32> {
  %a = onnx.Constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = onnx.Constant dense<[[0], [2]]> : tensor<2x1xi64>
  %u = onnx.Constant dense<[[7, 7], [8, 8]]> : tensor<2x2xi32>
  %r = "onnx.ScatterND"(%a, %i, %u) : (tensor<3x2xi32>, tensor<2x1xi64>, tensor<2x2xi32>) -> tensor<3x2xi32>
  onnx.Return %r : tensor<3x2xi32>
}

// CHECK-LABEL: func.func @scatternd_rows() -> tensor<3x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}7, 7], [3, 4], [8, 8]]> : tensor<3x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xi32>
// CHECK-NEXT:   }

// -----

func.func @scatternd_that_adds_stays() -> tensor<3xi32> {
  %a = onnx.Constant dense<[1, 2, 3]> : tensor<3xi32>
  %i = onnx.Constant dense<[[0]]> : tensor<1x1xi64>
  %u = onnx.Constant dense<[7]> : tensor<1xi32>
  %r = "onnx.ScatterND"(%a, %i, %u) {reduction = "add"} : (tensor<3xi32>, tensor<1x1xi64>, tensor<1xi32>) -> tensor<3xi32>
  onnx.Return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @scatternd_that_adds_stays() -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[1, 2, 3]> : tensor<3xi32>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<0> : tensor<1x1xi64>
// CHECK-NEXT:   [[V2:%.+]] = onnx.Constant dense<7> : tensor<1xi32>
// CHECK-NEXT:   [[V3:%.+]] = "onnx.ScatterND"([[V0]], [[V1]], [[V2]]) <{reduction = "add"}> : (tensor<3xi32>, tensor<1x1xi64>, tensor<1xi32>) -> tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V3]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @reversesequence_by_batch() -> tensor<3x3xf32> {
  %l = onnx.Constant dense<[1, 2, 3]> : tensor<3xi64>
  %a = onnx.Constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]> : tensor<3x3xf32>
  %r = "onnx.ReverseSequence"(%a, %l) {batch_axis = 0 : si64, time_axis = 1 : si64} : (tensor<3x3xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  onnx.Return %r : tensor<3x3xf32>
}

// CHECK-LABEL: func.func @reversesequence_by_batch() -> tensor<3x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 1.000000e+00, 2.000000e+00], [4.000000e+00, 3.000000e+00, 5.000000e+00], [8.000000e+00, 7.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x3xf32>
// CHECK-NEXT:   }

// -----

func.func @reversesequence_by_time() -> tensor<3x3xf32> {
  %l = onnx.Constant dense<[3, 2, 1]> : tensor<3xi64>
  %a = onnx.Constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]> : tensor<3x3xf32>
  %r = "onnx.ReverseSequence"(%a, %l) {batch_axis = 1 : si64, time_axis = 0 : si64} : (tensor<3x3xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  onnx.Return %r : tensor<3x3xf32>
}

// CHECK-LABEL: func.func @reversesequence_by_time() -> tensor<3x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}6.000000e+00, 4.000000e+00, 2.000000e+00], [3.000000e+00, 1.000000e+00, 5.000000e+00], [0.000000e+00, 7.000000e+00, 8.000000e+00]]> : tensor<3x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x3xf32>
// CHECK-NEXT:   }

// -----

func.func @reversesequence_all() -> tensor<3x3xf32> {
  %l = onnx.Constant dense<[3, 3, 3]> : tensor<3xi64>
  %a = onnx.Constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]> : tensor<3x3xf32>
  %r = "onnx.ReverseSequence"(%a, %l) {batch_axis = 0 : si64, time_axis = 1 : si64} : (tensor<3x3xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  onnx.Return %r : tensor<3x3xf32>
}

// CHECK-LABEL: func.func @reversesequence_all() -> tensor<3x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}2.000000e+00, 1.000000e+00, 0.000000e+00], [5.000000e+00, 4.000000e+00, 3.000000e+00], [8.000000e+00, 7.000000e+00, 6.000000e+00]]> : tensor<3x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x3xf32>
// CHECK-NEXT:   }
