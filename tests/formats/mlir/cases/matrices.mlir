// RUN: whorl opt --shape-inference --constprop-onnx --split-input-file %s | filecheck %s

func.func @matmul_zeros_on_the_left(%x: tensor<2x5xi32>) -> tensor<3x5xi32> {
  %z = onnx.Constant dense<0> : tensor<3x2xi32>
  %y = "onnx.MatMul"(%z, %x) : (tensor<3x2xi32>, tensor<2x5xi32>) -> tensor<3x5xi32>
  "onnx.Return"(%y) : (tensor<3x5xi32>) -> ()
}

// CHECK-LABEL: func.func @matmul_zeros_on_the_left(%arg0: tensor<2x5xi32>) -> tensor<3x5xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<3x5xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x5xi32>
// CHECK-NEXT:   }

// -----

func.func @matmul_zeros_on_the_right(%x: tensor<3x2xi64>) -> tensor<3x5xi64> {
  %z = onnx.Constant dense<0> : tensor<2x5xi64>
  %y = "onnx.MatMul"(%x, %z) : (tensor<3x2xi64>, tensor<2x5xi64>) -> tensor<3x5xi64>
  "onnx.Return"(%y) : (tensor<3x5xi64>) -> ()
}

// CHECK-LABEL: func.func @matmul_zeros_on_the_right(%arg0: tensor<3x2xi64>) -> tensor<3x5xi64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<3x5xi64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x5xi64>
// CHECK-NEXT:   }

// -----

func.func @matmul_zeros_of_floats_stay(%x: tensor<3x2xf16>) -> tensor<3x5xf16> {
  %z = onnx.Constant dense<0.0> : tensor<2x5xf16>
  %y = "onnx.MatMul"(%x, %z) : (tensor<3x2xf16>, tensor<2x5xf16>) -> tensor<3x5xf16>
  "onnx.Return"(%y) : (tensor<3x5xf16>) -> ()
}

// CHECK-LABEL: func.func @matmul_zeros_of_floats_stay(%arg0: tensor<3x2xf16>) -> tensor<3x5xf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0.000000e+00> : tensor<2x5xf16>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.MatMul"(%arg0, [[V0]]) : (tensor<3x2xf16>, tensor<2x5xf16>) -> tensor<3x5xf16>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<3x5xf16>
// CHECK-NEXT:   }

// -----

func.func @matmul_zeros_of_unknown_shape_stay(%x: tensor<?x2xi32>) -> tensor<?x5xi32> {
  %z = onnx.Constant dense<0> : tensor<2x5xi32>
  %y = "onnx.MatMul"(%x, %z) : (tensor<?x2xi32>, tensor<2x5xi32>) -> tensor<?x5xi32>
  "onnx.Return"(%y) : (tensor<?x5xi32>) -> ()
}

// CHECK-LABEL: func.func @matmul_zeros_of_unknown_shape_stay(%arg0: tensor<?x2xi32>) -> tensor<?x5xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<2x5xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.MatMul"(%arg0, [[V0]]) : (tensor<?x2xi32>, tensor<2x5xi32>) -> tensor<?x5xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<?x5xi32>
// CHECK-NEXT:   }

// -----

func.func @matmul_0() -> (tensor<2x1xf32>) {
  %a = "onnx.Constant"() {value = dense<1.> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %b = "onnx.Constant"() {value = dense<2.> : tensor<3x1xf32>} : () -> tensor<3x1xf32>
  %c = "onnx.MatMul"(%a, %b) : (tensor<2x3xf32>, tensor<3x1xf32>) -> tensor<2x1xf32>
  onnx.Return %c : tensor<2x1xf32>
}

// CHECK-LABEL: func.func @matmul_0() -> tensor<2x1xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<6.000000e+00> : tensor<2x1xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1xf32>
// CHECK-NEXT:   }

// -----

func.func @matmul_1() -> (tensor<4x2x1xf64>) {
  %a = "onnx.Constant"() {value = dense<10.> : tensor<4x2x3xf64>} : () -> tensor<4x2x3xf64>
  %b = "onnx.Constant"() {value = dense<10.> : tensor<4x3x1xf64>} : () -> tensor<4x3x1xf64>
  %c = "onnx.MatMul"(%a, %b) : (tensor<4x2x3xf64>, tensor<4x3x1xf64>) -> tensor<4x2x1xf64>
  onnx.Return %c : tensor<4x2x1xf64>
}

// CHECK-LABEL: func.func @matmul_1() -> tensor<4x2x1xf64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<3.000000e+02> : tensor<4x2x1xf64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2x1xf64>
// CHECK-NEXT:   }

// -----

func.func @matmul_2() -> (tensor<4x2x1xi32>) {
  %a = "onnx.Constant"() {value = dense<1> : tensor<4x2x3xi32>} : () -> tensor<4x2x3xi32>
  %b = "onnx.Constant"() {value = dense<4> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %c = "onnx.MatMul"(%a, %b) : (tensor<4x2x3xi32>, tensor<3x1xi32>) -> tensor<4x2x1xi32>
  onnx.Return %c : tensor<4x2x1xi32>
}

// CHECK-LABEL: func.func @matmul_2() -> tensor<4x2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<12> : tensor<4x2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2x1xi32>
// CHECK-NEXT:   }

// -----

func.func @matmul_3() -> (tensor<5x4x2x1xi32>) {
  %a = "onnx.Constant"() {value = dense<1> : tensor<4x2x3xi32>} : () -> tensor<4x2x3xi32>
  %b = "onnx.Constant"() {value = dense<-2> : tensor<5x1x3x1xi32>} : () -> tensor<5x1x3x1xi32>
  %c = "onnx.MatMul"(%a, %b) : (tensor<4x2x3xi32>, tensor<5x1x3x1xi32>) -> tensor<5x4x2x1xi32>
  onnx.Return %c : tensor<5x4x2x1xi32>
}

// CHECK-LABEL: func.func @matmul_3() -> tensor<5x4x2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<-6> : tensor<5x4x2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<5x4x2x1xi32>
// CHECK-NEXT:   }

// -----

func.func @matmul_4() -> (tensor<3xi32>) {
  %a = "onnx.Constant"() {value = dense<[10, 20]> : tensor<2xi32>} : () -> tensor<2xi32>
  %b = "onnx.Constant"() {value = dense<7> : tensor<2x3xi32>} : () -> tensor<2x3xi32>
  %c = "onnx.MatMul"(%a, %b) : (tensor<2xi32>, tensor<2x3xi32>) -> tensor<3xi32>
  onnx.Return %c : tensor<3xi32>
}

// CHECK-LABEL: func.func @matmul_4() -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<210> : tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @matmul_5() -> (tensor<4x3xi32>) {
  %a = "onnx.Constant"() {value = dense<[10, 20]> : tensor<2xi32>} : () -> tensor<2xi32>
  %b = "onnx.Constant"() {value = dense<7> : tensor<4x2x3xi32>} : () -> tensor<4x2x3xi32>
  %c = "onnx.MatMul"(%a, %b) : (tensor<2xi32>, tensor<4x2x3xi32>) -> tensor<4x3xi32>
  onnx.Return %c : tensor<4x3xi32>
}

// CHECK-LABEL: func.func @matmul_5() -> tensor<4x3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<210> : tensor<4x3xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x3xi32>
// CHECK-NEXT:   }

// -----

func.func @matmul_6() -> (tensor<2xi32>) {
  %a = "onnx.Constant"() {value = dense<9> : tensor<2x3xi32>} : () -> tensor<2x3xi32>
  %b = "onnx.Constant"() {value = dense<[1, 2, 3]> : tensor<3xi32>} : () -> tensor<3xi32>
  %c = "onnx.MatMul"(%a, %b) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2xi32>
  onnx.Return %c : tensor<2xi32>
}

// CHECK-LABEL: func.func @matmul_6() -> tensor<2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<54> : tensor<2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xi32>
// CHECK-NEXT:   }

// -----

func.func @matmul_7() -> (tensor<4x2xi32>) {
  %a = "onnx.Constant"() {value = dense<9> : tensor<4x2x3xi32>} : () -> tensor<4x2x3xi32>
  %b = "onnx.Constant"() {value = dense<[1, 2, 3]> : tensor<3xi32>} : () -> tensor<3xi32>
  %c = "onnx.MatMul"(%a, %b) : (tensor<4x2x3xi32>, tensor<3xi32>) -> tensor<4x2xi32>
  onnx.Return %c : tensor<4x2xi32>
}

// CHECK-LABEL: func.func @matmul_7() -> tensor<4x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<54> : tensor<4x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2xi32>
// CHECK-NEXT:   }

// -----

func.func @matmul_8() -> (tensor<ui32>) {
  %a = "onnx.Constant"() {value = dense<[100, 20, 3]> : tensor<3xui32>} : () -> tensor<3xui32>
  %b = "onnx.Constant"() {value = dense<[5, 4, 2]> : tensor<3xui32>} : () -> tensor<3xui32>
  %c = "onnx.MatMul"(%a, %b) : (tensor<3xui32>, tensor<3xui32>) -> tensor<ui32>
  onnx.Return %c : tensor<ui32>
}

// CHECK-LABEL: func.func @matmul_8() -> tensor<ui32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<586> : tensor<ui32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<ui32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_0() -> (tensor<2x1xi32>) {
  %a = "onnx.Constant"() {value = dense<1> : tensor<2x3xi8>} : () -> tensor<2x3xi8>
  %b = "onnx.Constant"() {value = dense<2> : tensor<3x1xi8>} : () -> tensor<3x1xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %c = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<2x3xi8>, tensor<3x1xi8>, none, none) -> tensor<2x1xi32>
  onnx.Return %c : tensor<2x1xi32>
}

// CHECK-LABEL: func.func @matmulinteger_0() -> tensor<2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<6> : tensor<2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_1() -> (tensor<4x2x1xi32>) {
  %a = "onnx.Constant"() {value = dense<100> : tensor<4x2x3xi8>} : () -> tensor<4x2x3xi8>
  %b = "onnx.Constant"() {value = dense<90> : tensor<4x3x1xi8>} : () -> tensor<4x3x1xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %c = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<4x2x3xi8>, tensor<4x3x1xi8>, none, none) -> tensor<4x2x1xi32>
  onnx.Return %c : tensor<4x2x1xi32>
}

// CHECK-LABEL: func.func @matmulinteger_1() -> tensor<4x2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<27000> : tensor<4x2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2x1xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_2() -> (tensor<4x2x1xi32>) {
  %a = "onnx.Constant"() {value = dense<1> : tensor<4x2x3xi8>} : () -> tensor<4x2x3xi8>
  %b = "onnx.Constant"() {value = dense<4> : tensor<3x1xi8>} : () -> tensor<3x1xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %c = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<4x2x3xi8>, tensor<3x1xi8>, none, none) -> tensor<4x2x1xi32>
  onnx.Return %c : tensor<4x2x1xi32>
}

// CHECK-LABEL: func.func @matmulinteger_2() -> tensor<4x2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<12> : tensor<4x2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2x1xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_3() -> (tensor<5x4x2x1xi32>) {
  %a = "onnx.Constant"() {value = dense<1> : tensor<4x2x3xi8>} : () -> tensor<4x2x3xi8>
  %b = "onnx.Constant"() {value = dense<-2> : tensor<5x1x3x1xi8>} : () -> tensor<5x1x3x1xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %c = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<4x2x3xi8>, tensor<5x1x3x1xi8>, none, none) -> tensor<5x4x2x1xi32>
  onnx.Return %c : tensor<5x4x2x1xi32>
}

// CHECK-LABEL: func.func @matmulinteger_3() -> tensor<5x4x2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<-6> : tensor<5x4x2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<5x4x2x1xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_4() -> (tensor<3xi32>) {
  %a = "onnx.Constant"() {value = dense<[100, 200]> : tensor<2xui8>} : () -> tensor<2xui8>
  %b = "onnx.Constant"() {value = dense<7> : tensor<2x3xi8>} : () -> tensor<2x3xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %c = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<2xui8>, tensor<2x3xi8>, none, none) -> tensor<3xi32>
  onnx.Return %c : tensor<3xi32>
}

// CHECK-LABEL: func.func @matmulinteger_4() -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<2100> : tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_5() -> (tensor<4x3xi32>) {
  %a = "onnx.Constant"() {value = dense<[100, 200]> : tensor<2xui8>} : () -> tensor<2xui8>
  %b = "onnx.Constant"() {value = dense<7> : tensor<4x2x3xi8>} : () -> tensor<4x2x3xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %c = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<2xui8>, tensor<4x2x3xi8>, none, none) -> tensor<4x3xi32>
  onnx.Return %c : tensor<4x3xi32>
}

// CHECK-LABEL: func.func @matmulinteger_5() -> tensor<4x3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<2100> : tensor<4x3xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x3xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_6() -> (tensor<2xi32>) {
  %a = "onnx.Constant"() {value = dense<9> : tensor<2x3xui8>} : () -> tensor<2x3xui8>
  %b = "onnx.Constant"() {value = dense<[1, 2, 3]> : tensor<3xi8>} : () -> tensor<3xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %c = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<2x3xui8>, tensor<3xi8>, none, none) -> tensor<2xi32>
  onnx.Return %c : tensor<2xi32>
}

// CHECK-LABEL: func.func @matmulinteger_6() -> tensor<2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<54> : tensor<2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_7() -> (tensor<4x2xi32>) {
  %a = "onnx.Constant"() {value = dense<9> : tensor<4x2x3xui8>} : () -> tensor<4x2x3xui8>
  %b = "onnx.Constant"() {value = dense<[1, 2, 3]> : tensor<3xi8>} : () -> tensor<3xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %c = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<4x2x3xui8>, tensor<3xi8>, none, none) -> tensor<4x2xi32>
  onnx.Return %c : tensor<4x2xi32>
}

// CHECK-LABEL: func.func @matmulinteger_7() -> tensor<4x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<54> : tensor<4x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_8() -> (tensor<i32>) {
  %a = "onnx.Constant"() {value = dense<[100, 20, 3]> : tensor<3xui8>} : () -> tensor<3xui8>
  %b = "onnx.Constant"() {value = dense<[5, 4, 2]> : tensor<3xi8>} : () -> tensor<3xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %c = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<3xui8>, tensor<3xi8>, none, none) -> tensor<i32>
  onnx.Return %c : tensor<i32>
}

// CHECK-LABEL: func.func @matmulinteger_8() -> tensor<i32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<586> : tensor<i32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<i32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_zeros_0(%x: tensor<3x2xui8>) -> tensor<4x2xi32> {
  %c = onnx.Constant dense<0> : tensor<4x3xi8>
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.MatMulInteger"(%c, %x, %none, %none) : (tensor<4x3xi8>, tensor<3x2xui8>, none, none) -> tensor<4x2xi32>
  "onnx.Return"(%y) : (tensor<4x2xi32>) -> ()
}

// CHECK-LABEL: func.func @matmulinteger_zeros_0(%arg0: tensor<3x2xui8>) -> tensor<4x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<4x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_zeros_1(%x: tensor<3x2xui8>) -> tensor<4x2xi32> {
  %c = onnx.Constant dense<9> : tensor<4x3xui8>
  %none = "onnx.NoValue"() {value} : () -> none
  %p = onnx.Constant dense<9> : tensor<ui8>
  %y = "onnx.MatMulInteger"(%c, %x, %p, %none) : (tensor<4x3xui8>, tensor<3x2xui8>, tensor<ui8>, none) -> tensor<4x2xi32>
  "onnx.Return"(%y) : (tensor<4x2xi32>) -> ()
}

// CHECK-LABEL: func.func @matmulinteger_zeros_1(%arg0: tensor<3x2xui8>) -> tensor<4x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<4x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_zeros_2(%x: tensor<3x4xui8>) -> tensor<2x4xi32> {
  %c = onnx.Constant dense<[[4, 4, 4], [6, 6, 6]]> : tensor<2x3xui8>
  %none = "onnx.NoValue"() {value} : () -> none
  %p = onnx.Constant dense<[4, 6]> : tensor<2xui8>
  %y = "onnx.MatMulInteger"(%c, %x, %p, %none) : (tensor<2x3xui8>, tensor<3x4xui8>, tensor<2xui8>, none) -> tensor<2x4xi32>
  "onnx.Return"(%y) : (tensor<2x4xi32>) -> ()
}

// CHECK-LABEL: func.func @matmulinteger_zeros_2(%arg0: tensor<3x4xui8>) -> tensor<2x4xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<2x4xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x4xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_zeros_3(%x: tensor<3x4xui8>) -> tensor<2x4xi32> {
  %c = onnx.Constant dense<[[4, 4, 4], [6, 6, 6]]> : tensor<2x3xui8>
  %none = "onnx.NoValue"() {value} : () -> none
  %p = onnx.Constant dense<[[4], [6]]> : tensor<2x1xui8>
  %y = "onnx.MatMulInteger"(%c, %x, %p, %none) : (tensor<2x3xui8>, tensor<3x4xui8>, tensor<2x1xui8>, none) -> tensor<2x4xi32>
  "onnx.Return"(%y) : (tensor<2x4xi32>) -> ()
}

// CHECK-LABEL: func.func @matmulinteger_zeros_3(%arg0: tensor<3x4xui8>) -> tensor<2x4xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<2x4xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x4xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_zeros_4(%x: tensor<4x3xi8>) -> tensor<4x2xi32> {
  %c = onnx.Constant dense<0> : tensor<3x2xui8>
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.MatMulInteger"(%x, %c, %none, %none) : (tensor<4x3xi8>, tensor<3x2xui8>, none, none) -> tensor<4x2xi32>
  "onnx.Return"(%y) : (tensor<4x2xi32>) -> ()
}

// CHECK-LABEL: func.func @matmulinteger_zeros_4(%arg0: tensor<4x3xi8>) -> tensor<4x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<4x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_zeros_5(%x: tensor<4x3xi8>) -> tensor<4x2xi32> {
  %c = onnx.Constant dense<33> : tensor<3x2xui8>
  %none = "onnx.NoValue"() {value} : () -> none
  %p = onnx.Constant dense<33> : tensor<ui8>
  %y = "onnx.MatMulInteger"(%x, %c, %none, %p) : (tensor<4x3xi8>, tensor<3x2xui8>, none, tensor<ui8>) -> tensor<4x2xi32>
  "onnx.Return"(%y) : (tensor<4x2xi32>) -> ()
}

// CHECK-LABEL: func.func @matmulinteger_zeros_5(%arg0: tensor<4x3xi8>) -> tensor<4x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<4x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_zeros_6(%x: tensor<4x3xi8>) -> tensor<4x2xi32> {
  %c = onnx.Constant dense<[[5, 6], [5, 6], [5, 6]]> : tensor<3x2xui8>
  %none = "onnx.NoValue"() {value} : () -> none
  %p = onnx.Constant dense<[5, 6]> : tensor<2xui8>
  %y = "onnx.MatMulInteger"(%x, %c, %none, %p) : (tensor<4x3xi8>, tensor<3x2xui8>, none, tensor<2xui8>) -> tensor<4x2xi32>
  "onnx.Return"(%y) : (tensor<4x2xi32>) -> ()
}

// CHECK-LABEL: func.func @matmulinteger_zeros_6(%arg0: tensor<4x3xi8>) -> tensor<4x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<4x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_zeros_7(%x: tensor<1x4x3xi8>) -> tensor<1x4x2xi32> {
  %c = onnx.Constant dense<[[[5, 6], [5, 6], [5, 6]]]> : tensor<1x3x2xui8>
  %none = "onnx.NoValue"() {value} : () -> none
  %p = onnx.Constant dense<[[[5, 6]]]> : tensor<1x1x2xui8>
  %y = "onnx.MatMulInteger"(%x, %c, %none, %p) : (tensor<1x4x3xi8>, tensor<1x3x2xui8>, none, tensor<1x1x2xui8>) -> tensor<1x4x2xi32>
  "onnx.Return"(%y) : (tensor<1x4x2xi32>) -> ()
}

// CHECK-LABEL: func.func @matmulinteger_zeros_7(%arg0: tensor<1x4x3xi8>) -> tensor<1x4x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<1x4x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x4x2xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_zero_points_of_rank_one() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[9, 7, 5], [8, 6, 4]]> : tensor<2x3xui8>} : () -> tensor<2x3xui8>
  %b = "onnx.Constant"() {value = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xui8>} : () -> tensor<3x2xui8>
  %p = "onnx.Constant"() {value = dense<[10]> : tensor<1xui8>} : () -> tensor<1xui8>
  %q = "onnx.Constant"() {value = dense<[1]> : tensor<1xui8>} : () -> tensor<1xui8>
  %c = "onnx.MatMulInteger"(%a, %b, %p, %q) : (tensor<2x3xui8>, tensor<3x2xui8>, tensor<1xui8>, tensor<1xui8>) -> tensor<2x2xi32>
  onnx.Return %c : tensor<2x2xi32>
}

// CHECK-LABEL: func.func @matmulinteger_zero_points_of_rank_one() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}-26, -35], [-32, -44]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @matmulinteger_zero_points_of_rank_zero() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[9, 7, 5], [8, 6, 4]]> : tensor<2x3xui8>} : () -> tensor<2x3xui8>
  %b = "onnx.Constant"() {value = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xui8>} : () -> tensor<3x2xui8>
  %p = "onnx.Constant"() {value = dense<10> : tensor<ui8>} : () -> tensor<ui8>
  %q = "onnx.Constant"() {value = dense<1> : tensor<ui8>} : () -> tensor<ui8>
  %c = "onnx.MatMulInteger"(%a, %b, %p, %q) : (tensor<2x3xui8>, tensor<3x2xui8>, tensor<ui8>, tensor<ui8>) -> tensor<2x2xi32>
  onnx.Return %c : tensor<2x2xi32>
}

// CHECK-LABEL: func.func @matmulinteger_zero_points_of_rank_zero() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}-26, -35], [-32, -44]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @gemm_without_bias() -> tensor<2x2xf32> {
  %a = "onnx.Constant"() {value = dense<[[0.0, 0.5], [1.0, 1.5]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %b = "onnx.Constant"() {value = dense<[[2.0, 3.0], [4.0, 5.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %none = "onnx.NoValue"() {value} : () -> none
  %c = "onnx.Gemm"(%a, %b, %none) : (tensor<2x2xf32>, tensor<2x2xf32>, none) -> tensor<2x2xf32>
  onnx.Return %c : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @gemm_without_bias() -> tensor<2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}2.000000e+00, 2.500000e+00], [8.000000e+00, 1.050000e+01]]> : tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @gemm_transposed() -> tensor<2x2xf32> {
  %a = "onnx.Constant"() {value = dense<[[0.0, 0.5], [1.0, 1.5]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %b = "onnx.Constant"() {value = dense<[[2.0, 3.0], [4.0, 5.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %none = "onnx.NoValue"() {value} : () -> none
  %c = "onnx.Gemm"(%a, %b, %none) {transA = 1 : si64, transB = 1 : si64} : (tensor<2x2xf32>, tensor<2x2xf32>, none) -> tensor<2x2xf32>
  onnx.Return %c : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @gemm_transposed() -> tensor<2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3.000000e+00, 5.000000e+00], [5.500000e+00, 9.500000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @gemm_of_integers() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[2, 3], [4, 5]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %b = "onnx.Constant"() {value = dense<[[10, 20], [30, 40]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %d = "onnx.Constant"() {value = dense<[[100, 200], [300, 400]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %c = "onnx.Gemm"(%a, %b, %d) : (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  onnx.Return %c : tensor<2x2xi32>
}

// CHECK-LABEL: func.func @gemm_of_integers() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}210, 360], [490, 680]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @gemm_with_beta() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[2, 3], [4, 5]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %b = "onnx.Constant"() {value = dense<[[10, 20], [30, 40]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %c = "onnx.Gemm"(%a, %b, %a) {beta = 100.0 : f32} : (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  onnx.Return %c : tensor<2x2xi32>
}

// CHECK-LABEL: func.func @gemm_with_beta() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}310, 460], [590, 780]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @gemm_with_alpha_zero() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[2, 3], [4, 5]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %c = "onnx.Gemm"(%a, %a, %a) {alpha = 0.0 : f32} : (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  onnx.Return %c : tensor<2x2xi32>
}

// CHECK-LABEL: func.func @gemm_with_alpha_zero() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}2, 3], [4, 5]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }
