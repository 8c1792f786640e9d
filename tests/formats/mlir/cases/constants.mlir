// RUN: whorl opt --shape-inference --constprop-onnx --split-input-file %s | filecheck %s

func.func @sum_of_scalars() -> tensor<f32> {
  %a = onnx.Constant dense<1.5> : tensor<f32>
  %b = onnx.Constant dense<2.25> : tensor<f32>
  %c = "onnx.Add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "onnx.Return"(%c) : (tensor<f32>) -> ()
}

// CHECK-LABEL: func.func @sum_of_scalars() -> tensor<f32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<3.750000e+00> : tensor<f32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<f32>
// CHECK-NEXT:   }

// -----

func.func @sum_of_single_elements() -> tensor<1xf32> {
  %a = onnx.Constant dense<[0.5]> : tensor<1xf32>
  %b = onnx.Constant dense<[4.0]> : tensor<1xf32>
  %c = "onnx.Add"(%a, %b) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  onnx.Return %c : tensor<1xf32>
}

// CHECK-LABEL: func.func @sum_of_single_elements() -> tensor<1xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<4.500000e+00> : tensor<1xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1xf32>
// CHECK-NEXT:   }

// -----

func.func @splat_and_splat() -> tensor<4x2xf32> {
  %a = onnx.Constant dense<1.0> : tensor<4x2xf32>
  %b = onnx.Constant dense<-3.0> : tensor<4x2xf32>
  %c = "onnx.Add"(%a, %b) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  onnx.Return %c : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @splat_and_splat() -> tensor<4x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<-2.000000e+00> : tensor<4x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2xf32>
// CHECK-NEXT:   }

// -----

func.func @splat_and_list() -> tensor<3xf64> {
  %a = onnx.Constant dense<1.0> : tensor<3xf64>
  %b = onnx.Constant dense<[0.5, 0.25, 0.125]> : tensor<3xf64>
  %c = "onnx.Mul"(%b, %a) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  onnx.Return %c : tensor<3xf64>
}

// CHECK-LABEL: func.func @splat_and_list() -> tensor<3xf64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[5.000000e-01, 2.500000e-01, 1.250000e-01]> : tensor<3xf64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xf64>
// CHECK-NEXT:   }

// -----

func.func @equal_elements_become_a_splat() -> tensor<3xi16> {
  %a = onnx.Constant dense<[1, 2, 3]> : tensor<3xi16>
  %b = onnx.Constant dense<[4, 3, 2]> : tensor<3xi16>
  %c = "onnx.Add"(%a, %b) : (tensor<3xi16>, tensor<3xi16>) -> tensor<3xi16>
  onnx.Return %c : tensor<3xi16>
}

// CHECK-LABEL: func.func @equal_elements_become_a_splat() -> tensor<3xi16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<5> : tensor<3xi16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi16>
// CHECK-NEXT:   }

// -----

func.func @six_digits_or_the_shortest() -> tensor<6xf32> {
  %a = onnx.Constant dense<[1.0, 2.0, 0.1, 1.0e10, 16777217.0, 3.0e-7]> : tensor<6xf32>
  %b = onnx.Constant dense<3.0> : tensor<f32>
  %c = "onnx.Div"(%a, %b) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  onnx.Return %c : tensor<6xf32>
}

// CHECK-LABEL: func.func @six_digits_or_the_shortest() -> tensor<6xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[0.333333343, 0.666666686, 0.0333333351, 3.33333325E+9, 5592405.5, 1.000000e-07]> : tensor<6xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<6xf32>
// CHECK-NEXT:   }

// -----

func.func @infinities_and_nan_are_bits() -> tensor<4xf32> {
  %a = onnx.Constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]> : tensor<4xf32>
  %b = onnx.Constant dense<2.0> : tensor<4xf32>
  %c = "onnx.Mul"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %c : tensor<4xf32>
}

// CHECK-LABEL: func.func @infinities_and_nan_are_bits() -> tensor<4xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 2.000000e+00]> : tensor<4xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4xf32>
// CHECK-NEXT:   }

// -----

func.func @negative_zero_keeps_its_sign() -> tensor<2xf32> {
  %a = onnx.Constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %b = onnx.Constant dense<1.0> : tensor<f32>
  %c = "onnx.Mul"(%a, %b) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  onnx.Return %c : tensor<2xf32>
}

// CHECK-LABEL: func.func @negative_zero_keeps_its_sign() -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-0.000000e+00, 0.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @half_of_a_bfloat16() -> tensor<3xbf16> {
  %a = onnx.Constant dense<[1.0, 3.0, 0.1]> : tensor<3xbf16>
  %b = onnx.Constant dense<0.5> : tensor<bf16>
  %c = "onnx.Mul"(%a, %b) : (tensor<3xbf16>, tensor<bf16>) -> tensor<3xbf16>
  onnx.Return %c : tensor<3xbf16>
}

// CHECK-LABEL: func.func @half_of_a_bfloat16() -> tensor<3xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[5.000000e-01, 1.500000e+00, 5.004880e-02]> : tensor<3xbf16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xbf16>
// CHECK-NEXT:   }

// -----

func.func @generic_constants() -> tensor<2xi64> {
  %a = "onnx.Constant"() {value = dense<[5, 6]> : tensor<2xi64>} : () -> tensor<2xi64>
  %b = "onnx.Constant"() {value = dense<[1, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %c = "onnx.Sub"(%a, %b) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  onnx.Return %c : tensor<2xi64>
}

// CHECK-LABEL: func.func @generic_constants() -> tensor<2xi64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[4, 5]> : tensor<2xi64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xi64>
// CHECK-NEXT:   }

// -----

func.func @constants_with_attributes() -> tensor<2xf32> {
  %a = onnx.Constant {name = "first", value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %b = "onnx.Constant"() {name = "second", value = dense<[0.5, 0.5]>:tensor<2xf32>} : () -> tensor<2xf32>
  %c = "onnx.Mul"(%a, %b) {onnx_node_name = "product"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %c : tensor<2xf32>
}

// CHECK-LABEL: func.func @constants_with_attributes() -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[5.000000e-01, 1.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @scalar_attributes() -> (tensor<i64>, tensor<f32>, tensor<3xi64>, tensor<2xf32>) {
  %a = onnx.Constant {value_int = 7 : si64} : tensor<i64>
  %b = onnx.Constant {value_float = 2.5 : f32} : tensor<f32>
  %c = onnx.Constant {value_ints = [1, 2, 3]} : tensor<3xi64>
  %d = onnx.Constant {value_floats = [0.5 : f32, 1.5 : f32]} : tensor<2xf32>
  onnx.Return %a, %b, %c, %d : tensor<i64>, tensor<f32>, tensor<3xi64>, tensor<2xf32>
}

// CHECK-LABEL: func.func @scalar_attributes() -> (tensor<i64>, tensor<f32>, tensor<3xi64>, tensor<2xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<7> : tensor<i64>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<2.500000e+00> : tensor<f32>
// CHECK-NEXT:   [[V2:%.+]] = onnx.Constant dense<[1, 2, 3]> : tensor<3xi64>
// CHECK-NEXT:   [[V3:%.+]] = onnx.Constant dense<[5.000000e-01, 1.500000e+00]> : tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]], [[V2]], [[V3]] : tensor<i64>, tensor<f32>, tensor<3xi64>, tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @bytes_of_a_tensor() -> tensor<4xi32> {
  %a = onnx.Constant dense<"0x01000000020000000300000004000000"> : tensor<4xi32>
  %b = onnx.Constant dense<"0xFFFFFFFF"> : tensor<4xi32>
  %c = "onnx.Add"(%a, %b) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  onnx.Return %c : tensor<4xi32>
}

// CHECK-LABEL: func.func @bytes_of_a_tensor() -> tensor<4xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[0, 1, 2, 3]> : tensor<4xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4xi32>
// CHECK-NEXT:   }

// -----

func.func @disposable_elements() -> tensor<2xf32> {
  %a = onnx.Constant #onnx.dense_disposable<3:"0x0000803F00000040"> : tensor<2xf32>
  %c = "onnx.Neg"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %c : tensor<2xf32>
}

// CHECK-LABEL: func.func @disposable_elements() -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-1.000000e+00, -2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @sparse_elements() -> tensor<2x3xi32> {
  %a = onnx.Constant sparse<[[0, 1], [1, 2]], [7, 9]> : tensor<2x3xi32>
  %b = onnx.Constant dense<1> : tensor<i32>
  %c = "onnx.Add"(%a, %b) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  onnx.Return %c : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @sparse_elements() -> tensor<2x3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1, 8, 1], [1, 1, 10]]> : tensor<2x3xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x3xi32>
// CHECK-NEXT:   }

// -----

func.func @strings_stay() -> tensor<2x!onnx.String> {
  %a = onnx.Constant dense<["one", "two\22"]> : tensor<2x!onnx.String>
  onnx.Return %a : tensor<2x!onnx.String>
}

// CHECK-LABEL: func.func @strings_stay() -> tensor<2x!onnx.String> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<["one", "two\22"]> : tensor<2x!onnx.String>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x!onnx.String>
// CHECK-NEXT:   }

// -----

func.func @unsigned_elements() -> tensor<2xui64> {
  %a = onnx.Constant dense<[18446744073709551615, 1]> : tensor<2xui64>
  %b = onnx.Constant dense<[1, 2]> : tensor<2xui64>
  %c = "onnx.Sub"(%a, %b) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
  onnx.Return %c : tensor<2xui64>
}

// CHECK-LABEL: func.func @unsigned_elements() -> tensor<2xui64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[18446744073709551614, 18446744073709551615]> : tensor<2xui64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xui64>
// CHECK-NEXT:   }

// -----

func.func @no_elements() -> tensor<0x3xf32> {
  %a = onnx.Constant dense<> : tensor<0x3xf32>
  %c = "onnx.Neg"(%a) : (tensor<0x3xf32>) -> tensor<0x3xf32>
  onnx.Return %c : tensor<0x3xf32>
}

// CHECK-LABEL: func.func @no_elements() -> tensor<0x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<> : tensor<0x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<0x3xf32>
// CHECK-NEXT:   }
