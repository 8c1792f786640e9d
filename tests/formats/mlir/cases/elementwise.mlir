// RUN: whorl opt --shape-inference --constprop-onnx --split-input-file %s | filecheck %s

func.func @abs_of_bf16() -> tensor<4x2xbf16> {
  %a = onnx.Constant dense<[[7.5, -7.5], [0.0, -0.0], [0x7F80, 0xFF80], [0xFFC0, 0x7FC0]]> : tensor<4x2xbf16>
  %b = "onnx.Abs"(%a) : (tensor<4x2xbf16>) -> tensor<4x2xbf16>
  "onnx.Return"(%b) : (tensor<4x2xbf16>) -> ()
}

// CHECK-LABEL: func.func @abs_of_bf16() -> tensor<4x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}7.500000e+00, 7.500000e+00], [0.000000e+00, 0.000000e+00], [0x7F80, 0x7F80], [0x7FC0, 0x7FC0]]> : tensor<4x2xbf16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @abs_of_i32() -> tensor<2x2xi32> {
  %a = onnx.Constant dense<[[5, -5], [0, -3000]]> : tensor<2x2xi32>
  %b = "onnx.Abs"(%a) : (tensor<2x2xi32>) -> tensor<2x2xi32>
  "onnx.Return"(%b) : (tensor<2x2xi32>) -> ()
}

// CHECK-LABEL: func.func @abs_of_i32() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}5, 5], [0, 3000]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @abs_of_ui64() -> tensor<1x2xui64> {
  %a = onnx.Constant dense<[[18446744073709551615, 18446744073709551614]]> : tensor<1x2xui64>
  %b = "onnx.Abs"(%a) : (tensor<1x2xui64>) -> tensor<1x2xui64>
  "onnx.Return"(%b) : (tensor<1x2xui64>) -> ()
}

// CHECK-LABEL: func.func @abs_of_ui64() -> tensor<1x2xui64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}18446744073709551615, 18446744073709551614]]> : tensor<1x2xui64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x2xui64>
// CHECK-NEXT:   }

// -----

func.func @ceil_of_bf16() -> tensor<3x2xbf16> {
  %a = onnx.Constant dense<[[3.2, -3.2], [0.0, 0x7FC0], [0x7F80, 0xFF80]]> : tensor<3x2xbf16>
  %b = "onnx.Ceil"(%a) : (tensor<3x2xbf16>) -> tensor<3x2xbf16>
  "onnx.Return"(%b) : (tensor<3x2xbf16>) -> ()
}

// CHECK-LABEL: func.func @ceil_of_bf16() -> tensor<3x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}4.000000e+00, -3.000000e+00], [0.000000e+00, 0x7FC0], [0x7F80, 0xFF80]]> : tensor<3x2xbf16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @cos_of_f32() -> tensor<3x2xf32> {
  %a = onnx.Constant dense<[[0.5, -0.5], [0.0, 0x7FC00000], [1.25, -1.25]]> : tensor<3x2xf32>
  %b = "onnx.Cos"(%a) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  "onnx.Return"(%b) : (tensor<3x2xf32>) -> ()
}

// CHECK-LABEL: func.func @cos_of_f32() -> tensor<3x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.87758255, 0.87758255], [1.000000e+00, 0x7FC00000], [0.315322369, 0.315322369]]> : tensor<3x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func.func @erf_of_bf16() -> tensor<3x2xbf16> {
  %a = onnx.Constant dense<[[0.125, -2.0], [0.0, 0x7FC0], [0x7F80, 0xFF80]]> : tensor<3x2xbf16>
  %b = "onnx.Erf"(%a) : (tensor<3x2xbf16>) -> tensor<3x2xbf16>
  "onnx.Return"(%b) : (tensor<3x2xbf16>) -> ()
}

// CHECK-LABEL: func.func @erf_of_bf16() -> tensor<3x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.406250e-01, -9.960930e-01], [0.000000e+00, 0x7FC0], [1.000000e+00, -1.000000e+00]]> : tensor<3x2xbf16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @exp_of_bf16() -> tensor<3x2xbf16> {
  %a = onnx.Constant dense<[[0.125, -2.0], [0.0, 0x7FC0], [0x7F80, 0xFF80]]> : tensor<3x2xbf16>
  %b = "onnx.Exp"(%a) : (tensor<3x2xbf16>) -> tensor<3x2xbf16>
  "onnx.Return"(%b) : (tensor<3x2xbf16>) -> ()
}

// CHECK-LABEL: func.func @exp_of_bf16() -> tensor<3x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.132810e+00, 1.357420e-01], [1.000000e+00, 0x7FC0], [0x7F80, 0.000000e+00]]> : tensor<3x2xbf16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @floor_of_bf16() -> tensor<3x2xbf16> {
  %a = onnx.Constant dense<[[3.2, -3.2], [0.0, 0x7FC0], [0x7F80, 0xFF80]]> : tensor<3x2xbf16>
  %b = "onnx.Floor"(%a) : (tensor<3x2xbf16>) -> tensor<3x2xbf16>
  "onnx.Return"(%b) : (tensor<3x2xbf16>) -> ()
}

// CHECK-LABEL: func.func @floor_of_bf16() -> tensor<3x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3.000000e+00, -4.000000e+00], [0.000000e+00, 0x7FC0], [0x7F80, 0xFF80]]> : tensor<3x2xbf16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @log_of_bf16() -> tensor<2x2xbf16> {
  %a = onnx.Constant dense<[[0.125, 8.0], [0.0, 0x7F80]]> : tensor<2x2xbf16>
  %b = "onnx.Log"(%a) : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
  "onnx.Return"(%b) : (tensor<2x2xbf16>) -> ()
}

// CHECK-LABEL: func.func @log_of_bf16() -> tensor<2x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}-2.078130e+00, 2.078130e+00], [0xFF80, 0x7F80]]> : tensor<2x2xbf16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @not_of_i1() -> tensor<3xi1> {
  %a = onnx.Constant dense<[true, false, false]> : tensor<3xi1>
  %b = "onnx.Not"(%a) : (tensor<3xi1>) -> tensor<3xi1>
  "onnx.Return"(%b) : (tensor<3xi1>) -> ()
}

// CHECK-LABEL: func.func @not_of_i1() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[false, true, true]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @reciprocal_of_bf16() -> tensor<3x2xbf16> {
  %a = onnx.Constant dense<[[0.5, -0.5], [0.0, 0x7FC0], [0x7F80, 0xFF80]]> : tensor<3x2xbf16>
  %b = "onnx.Reciprocal"(%a) : (tensor<3x2xbf16>) -> tensor<3x2xbf16>
  "onnx.Return"(%b) : (tensor<3x2xbf16>) -> ()
}

// CHECK-LABEL: func.func @reciprocal_of_bf16() -> tensor<3x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}2.000000e+00, -2.000000e+00], [0x7F80, 0x7FC0], [0.000000e+00, -0.000000e+00]]> : tensor<3x2xbf16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @reciprocal_of_f32() -> tensor<1x2xf32> {
  %a = onnx.Constant dense<[[-8.0, 32.0]]> : tensor<1x2xf32>
  %b = "onnx.Reciprocal"(%a) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  "onnx.Return"(%b) : (tensor<1x2xf32>) -> ()
}

// CHECK-LABEL: func.func @reciprocal_of_f32() -> tensor<1x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}-1.250000e-01, 3.125000e-02]]> : tensor<1x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x2xf32>
// CHECK-NEXT:   }

// -----

func.func @round_of_bf16() -> tensor<5x2xbf16> {
  %a = onnx.Constant dense<[[0.6, 4.5], [2.7, 3.5], [-2.5, -5.5], [-1.3, 0x7FC0], [0x7F80, 0xFF80]]> : tensor<5x2xbf16>
  %b = "onnx.Round"(%a) : (tensor<5x2xbf16>) -> tensor<5x2xbf16>
  "onnx.Return"(%b) : (tensor<5x2xbf16>) -> ()
}

// CHECK-LABEL: func.func @round_of_bf16() -> tensor<5x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 4.000000e+00], [3.000000e+00, 4.000000e+00], [-2.000000e+00, -6.000000e+00], [-1.000000e+00, 0x7FC0], [0x7F80, 0xFF80]]> : tensor<5x2xbf16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<5x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @round_of_f32() -> tensor<5xf32> {
  %a = onnx.Constant dense<[0.6, 4.5, 2.3, 3.5, -2.5]> : tensor<5xf32>
  %b = "onnx.Round"(%a) : (tensor<5xf32>) -> tensor<5xf32>
  "onnx.Return"(%b) : (tensor<5xf32>) -> ()
}

// CHECK-LABEL: func.func @round_of_f32() -> tensor<5xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[1.000000e+00, 4.000000e+00, 2.000000e+00, 4.000000e+00, -2.000000e+00]> : tensor<5xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<5xf32>
// CHECK-NEXT:   }

// -----

func.func @sin_of_f32() -> tensor<3x2xf32> {
  %a = onnx.Constant dense<[[0.5, -0.5], [0.0, 0x7FC00000], [1.25, -1.25]]> : tensor<3x2xf32>
  %b = "onnx.Sin"(%a) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  "onnx.Return"(%b) : (tensor<3x2xf32>) -> ()
}

// CHECK-LABEL: func.func @sin_of_f32() -> tensor<3x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.47942555, -0.47942555], [0.000000e+00, 0x7FC00000], [0.948984622, -0.948984622]]> : tensor<3x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func.func @sqrt_of_f32() -> tensor<1x3xf32> {
  %a = onnx.Constant dense<[[9.0, 25.0, 2.0]]> : tensor<1x3xf32>
  %b = "onnx.Sqrt"(%a) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  "onnx.Return"(%b) : (tensor<1x3xf32>) -> ()
}

// CHECK-LABEL: func.func @sqrt_of_f32() -> tensor<1x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3.000000e+00, 5.000000e+00, 1.41421354]]> : tensor<1x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x3xf32>
// CHECK-NEXT:   }

// -----

func.func @relu_of_f32() -> tensor<1x3xf32> {
  %a = onnx.Constant dense<[[-2.0, 3.0, -0.5]]> : tensor<1x3xf32>
  %b = "onnx.Relu"(%a) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  "onnx.Return"(%b) : (tensor<1x3xf32>) -> ()
}

// CHECK-LABEL: func.func @relu_of_f32() -> tensor<1x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}0.000000e+00, 3.000000e+00, 0.000000e+00]]> : tensor<1x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x3xf32>
// CHECK-NEXT:   }

// -----

func.func @neg_of_f32() -> tensor<2xf32> {
  %a = onnx.Constant dense<[1.0, -2.5]> : tensor<2xf32>
  %b = "onnx.Neg"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  "onnx.Return"(%b) : (tensor<2xf32>) -> ()
}

// CHECK-LABEL: func.func @neg_of_f32() -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-1.000000e+00, 2.500000e+00]> : tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @sigmoid_of_f32() -> tensor<3xf32> {
  %a = onnx.Constant dense<[0.0, 1.0, -1.0]> : tensor<3xf32>
  %b = "onnx.Sigmoid"(%a) : (tensor<3xf32>) -> tensor<3xf32>
  "onnx.Return"(%b) : (tensor<3xf32>) -> ()
}

// CHECK-LABEL: func.func @sigmoid_of_f32() -> tensor<3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[5.000000e-01, 0.731058597, 0.268941432]> : tensor<3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xf32>
// CHECK-NEXT:   }

// -----

func.func @bitwisenot_of_i32() -> tensor<4xi32> {
  %a = onnx.Constant dense<[0, 0xFFFFFFFF, 0xFFFFFFFD, 0x0000000F]> : tensor<4xi32>
  %b = "onnx.BitwiseNot"(%a) : (tensor<4xi32>) -> tensor<4xi32>
  "onnx.Return"(%b) : (tensor<4xi32>) -> ()
}

// CHECK-LABEL: func.func @bitwisenot_of_i32() -> tensor<4xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-1, 0, 2, -16]> : tensor<4xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4xi32>
// CHECK-NEXT:   }

// -----

func.func @abs_of_f32() -> tensor<2xf32> {
  %a = onnx.Constant dense<[-2.0, 3.0]> : tensor<2xf32>
  %b = "onnx.Abs"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  "onnx.Return"(%b) : (tensor<2xf32>) -> ()
}

// CHECK-LABEL: func.func @abs_of_f32() -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[2.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @and_with_a_splat() -> tensor<3xi1> {
  %a = onnx.Constant dense<[true, false, true]> : tensor<3xi1>
  %b = onnx.Constant dense<true> : tensor<i1>
  %c = "onnx.And"(%a, %b) : (tensor<3xi1>, tensor<i1>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @and_with_a_splat() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[true, false, true]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @and_of_lists() -> tensor<3xi1> {
  %a = onnx.Constant dense<[true, false, true]> : tensor<3xi1>
  %b = onnx.Constant dense<[false, false, true]> : tensor<3xi1>
  %c = "onnx.And"(%a, %b) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @and_of_lists() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[false, false, true]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @or_with_a_splat() -> tensor<3xi1> {
  %a = onnx.Constant dense<[true, false, true]> : tensor<3xi1>
  %b = onnx.Constant dense<true> : tensor<i1>
  %c = "onnx.Or"(%a, %b) : (tensor<3xi1>, tensor<i1>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @or_with_a_splat() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<true> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @or_of_lists() -> tensor<3xi1> {
  %a = onnx.Constant dense<[true, false, true]> : tensor<3xi1>
  %b = onnx.Constant dense<[false, false, true]> : tensor<3xi1>
  %c = "onnx.Or"(%a, %b) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @or_of_lists() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[true, false, true]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @xor_with_a_splat() -> tensor<3xi1> {
  %a = onnx.Constant dense<[true, false, true]> : tensor<3xi1>
  %b = onnx.Constant dense<true> : tensor<i1>
  %c = "onnx.Xor"(%a, %b) : (tensor<3xi1>, tensor<i1>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @xor_with_a_splat() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[false, true, false]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @xor_of_lists() -> tensor<3xi1> {
  %a = onnx.Constant dense<[true, false, true]> : tensor<3xi1>
  %b = onnx.Constant dense<[false, false, true]> : tensor<3xi1>
  %c = "onnx.Xor"(%a, %b) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @xor_of_lists() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[true, false, false]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @bitwiseand_of_hexadecimal_numbers() -> tensor<3xi32> {
  %a = onnx.Constant dense<[0xFFFFFFF0, 0xFFFF0000, 512]> : tensor<3xi32>
  %b = onnx.Constant dense<0xFFFFFFFF> : tensor<i32>
  %c = "onnx.BitwiseAnd"(%a, %b) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  onnx.Return %c : tensor<3xi32>
}

// CHECK-LABEL: func.func @bitwiseand_of_hexadecimal_numbers() -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-16, -65536, 512]> : tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @bitwiseor_of_hexadecimal_numbers() -> tensor<3xi32> {
  %a = onnx.Constant dense<[0xFFFFFFF0, 0xFFFF0000, 512]> : tensor<3xi32>
  %b = onnx.Constant dense<[0xFFFFFFF1, 1, 2]> : tensor<3xi32>
  %c = "onnx.BitwiseOr"(%a, %b) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  onnx.Return %c : tensor<3xi32>
}

// CHECK-LABEL: func.func @bitwiseor_of_hexadecimal_numbers() -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-15, -65535, 514]> : tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @equal_of_integers() -> tensor<3xi1> {
  %a = onnx.Constant dense<[1, 1, 1]> : tensor<3xi64>
  %b = onnx.Constant dense<[-4, 1, 3]> : tensor<3xi64>
  %c = "onnx.Equal"(%a, %b) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @equal_of_integers() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[false, true, false]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @less_of_integers() -> tensor<3xi1> {
  %a = onnx.Constant dense<[1, 1, 1]> : tensor<3xi64>
  %b = onnx.Constant dense<[-4, 1, 3]> : tensor<3xi64>
  %c = "onnx.Less"(%a, %b) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @less_of_integers() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[false, false, true]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @greater_of_integers() -> tensor<3xi1> {
  %a = onnx.Constant dense<[1, 1, 1]> : tensor<3xi64>
  %b = onnx.Constant dense<[-4, 1, 3]> : tensor<3xi64>
  %c = "onnx.Greater"(%a, %b) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @greater_of_integers() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[true, false, false]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @lessorequal_of_integers() -> tensor<3xi1> {
  %a = onnx.Constant dense<[1, 1, 1]> : tensor<3xi64>
  %b = onnx.Constant dense<[-4, 1, 3]> : tensor<3xi64>
  %c = "onnx.LessOrEqual"(%a, %b) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @lessorequal_of_integers() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[false, true, true]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @greaterorequal_of_integers() -> tensor<3xi1> {
  %a = onnx.Constant dense<[1, 1, 1]> : tensor<3xi64>
  %b = onnx.Constant dense<[-4, 1, 3]> : tensor<3xi64>
  %c = "onnx.GreaterOrEqual"(%a, %b) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @greaterorequal_of_integers() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[true, true, false]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @equal_of_floats_with_nan() -> tensor<3xi1> {
  %a = onnx.Constant dense<[1.0, 0x7FC00000, -0.0]> : tensor<3xf32>
  %b = onnx.Constant dense<[1.0, 0x7FC00000, 0.0]> : tensor<3xf32>
  %c = "onnx.Equal"(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  onnx.Return %c : tensor<3xi1>
}

// CHECK-LABEL: func.func @equal_of_floats_with_nan() -> tensor<3xi1> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[true, false, true]> : tensor<3xi1>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3xi1>
// CHECK-NEXT:   }

// -----

func.func @remainder_of_integers_0() -> tensor<i64> {
  %a = onnx.Constant dense<-11> : tensor<i64>
  %b = onnx.Constant dense<-4> : tensor<i64>
  %c = "onnx.Mod"(%a, %b) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  onnx.Return %c : tensor<i64>
}

// CHECK-LABEL: func.func @remainder_of_integers_0() -> tensor<i64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<-3> : tensor<i64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<i64>
// CHECK-NEXT:   }

// -----

func.func @remainder_of_integers_1() -> tensor<i64> {
  %a = onnx.Constant dense<-9> : tensor<i64>
  %b = onnx.Constant dense<3> : tensor<i64>
  %c = "onnx.Mod"(%a, %b) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  onnx.Return %c : tensor<i64>
}

// CHECK-LABEL: func.func @remainder_of_integers_1() -> tensor<i64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<i64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<i64>
// CHECK-NEXT:   }

// -----

func.func @remainder_of_integers_2() -> tensor<i64> {
  %a = onnx.Constant dense<9> : tensor<i64>
  %b = onnx.Constant dense<10> : tensor<i64>
  %c = "onnx.Mod"(%a, %b) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  onnx.Return %c : tensor<i64>
}

// CHECK-LABEL: func.func @remainder_of_integers_2() -> tensor<i64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<9> : tensor<i64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<i64>
// CHECK-NEXT:   }

// -----

func.func @remainder_of_integers_3() -> tensor<i64> {
  %a = onnx.Constant dense<-7> : tensor<i64>
  %b = onnx.Constant dense<4> : tensor<i64>
  %c = "onnx.Mod"(%a, %b) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  onnx.Return %c : tensor<i64>
}

// CHECK-LABEL: func.func @remainder_of_integers_3() -> tensor<i64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<1> : tensor<i64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<i64>
// CHECK-NEXT:   }

// -----

func.func @remainder_of_integers_4() -> tensor<i64> {
  %a = onnx.Constant dense<7> : tensor<i64>
  %b = onnx.Constant dense<-4> : tensor<i64>
  %c = "onnx.Mod"(%a, %b) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  onnx.Return %c : tensor<i64>
}

// CHECK-LABEL: func.func @remainder_of_integers_4() -> tensor<i64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<-1> : tensor<i64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<i64>
// CHECK-NEXT:   }

// -----

func.func @remainder_of_floats() -> tensor<1xf32> {
  %a = onnx.Constant dense<[3.0]> : tensor<1xf32>
  %b = onnx.Constant dense<[8.0]> : tensor<1xf32>
  %c = "onnx.Mod"(%a, %b) {fmod = 1 : si64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  onnx.Return %c : tensor<1xf32>
}

// CHECK-LABEL: func.func @remainder_of_floats() -> tensor<1xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<3.000000e+00> : tensor<1xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1xf32>
// CHECK-NEXT:   }

// -----

func.func @remainder_has_the_sign_of_the_dividend() -> tensor<1xf32> {
  %a = onnx.Constant dense<[-5.3]> : tensor<1xf32>
  %b = onnx.Constant dense<[2.6]> : tensor<1xf32>
  %c = "onnx.Mod"(%a, %b) {fmod = 1 : si64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  onnx.Return %c : tensor<1xf32>
}

// CHECK-LABEL: func.func @remainder_has_the_sign_of_the_dividend() -> tensor<1xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<-0.100000381> : tensor<1xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1xf32>
// CHECK-NEXT:   }

// -----

func.func @power() -> tensor<2x2xf32> {
  %a = onnx.Constant dense<16.0> : tensor<2x2xf32>
  %b = onnx.Constant dense<0.5> : tensor<f32>
  %c = "onnx.Pow"(%a, %b) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  onnx.Return %c : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @power() -> tensor<2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<4.000000e+00> : tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @power_of_two_types_stays() -> tensor<1x2xi32> {
  %a = onnx.Constant dense<[[3, 4]]> : tensor<1x2xi32>
  %b = onnx.Constant dense<2.0> : tensor<f32>
  %c = "onnx.Pow"(%a, %b) : (tensor<1x2xi32>, tensor<f32>) -> tensor<1x2xi32>
  onnx.Return %c : tensor<1x2xi32>
}

// CHECK-LABEL: func.func @power_of_two_types_stays() -> tensor<1x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3, 4]]> : tensor<1x2xi32>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Pow"([[V0]], [[V1]]) : (tensor<1x2xi32>, tensor<f32>) -> tensor<1x2xi32>
// CHECK-NEXT:   onnx.Return [[V2]] : tensor<1x2xi32>
// CHECK-NEXT:   }

// -----

func.func @max_of_one() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %c = "onnx.Max"(%a) : (tensor<2x2xi32>) -> tensor<2x2xi32>
  "onnx.Return"(%c) : (tensor<2x2xi32>) -> ()
}

// CHECK-LABEL: func.func @max_of_one() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @max_of_two() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %b = "onnx.Constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %c = "onnx.Max"(%a, %b) : (tensor<2x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  "onnx.Return"(%c) : (tensor<2x2xi32>) -> ()
}

// CHECK-LABEL: func.func @max_of_two() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3, 3], [3, 4]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @max_of_three() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %b = "onnx.Constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %d = "onnx.Constant"() {value = dense<[[7], [0]]> : tensor<2x1xi32>} : () -> tensor<2x1xi32>
  %c = "onnx.Max"(%a, %b, %d) : (tensor<2x2xi32>, tensor<i32>, tensor<2x1xi32>) -> tensor<2x2xi32>
  "onnx.Return"(%c) : (tensor<2x2xi32>) -> ()
}

// CHECK-LABEL: func.func @max_of_three() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}7, 7], [3, 4]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @min_of_one() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %c = "onnx.Min"(%a) : (tensor<2x2xi32>) -> tensor<2x2xi32>
  "onnx.Return"(%c) : (tensor<2x2xi32>) -> ()
}

// CHECK-LABEL: func.func @min_of_one() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @min_of_two() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %b = "onnx.Constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %c = "onnx.Min"(%a, %b) : (tensor<2x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  "onnx.Return"(%c) : (tensor<2x2xi32>) -> ()
}

// CHECK-LABEL: func.func @min_of_two() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1, 2], [3, 3]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @min_of_three() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %b = "onnx.Constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %d = "onnx.Constant"() {value = dense<[[7], [0]]> : tensor<2x1xi32>} : () -> tensor<2x1xi32>
  %c = "onnx.Min"(%a, %b, %d) : (tensor<2x2xi32>, tensor<i32>, tensor<2x1xi32>) -> tensor<2x2xi32>
  "onnx.Return"(%c) : (tensor<2x2xi32>) -> ()
}

// CHECK-LABEL: func.func @min_of_three() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1, 2], [0, 0]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @sum_of_one() -> tensor<2x2xf32> {
  %a = "onnx.Constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %c = "onnx.Sum"(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  "onnx.Return"(%c) : (tensor<2x2xf32>) -> ()
}

// CHECK-LABEL: func.func @sum_of_one() -> tensor<2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @sum_of_two() -> tensor<2x2xf32> {
  %a = "onnx.Constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %b = "onnx.Constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %c = "onnx.Sum"(%a, %b) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  "onnx.Return"(%c) : (tensor<2x2xf32>) -> ()
}

// CHECK-LABEL: func.func @sum_of_two() -> tensor<2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}4.000000e+00, 5.000000e+00], [6.000000e+00, 7.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @sum_of_three() -> tensor<2x2xf32> {
  %a = "onnx.Constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %b = "onnx.Constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %d = "onnx.Constant"() {value = dense<[[7.0], [0.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %c = "onnx.Sum"(%a, %b, %d) : (tensor<2x2xf32>, tensor<f32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  "onnx.Return"(%c) : (tensor<2x2xf32>) -> ()
}

// CHECK-LABEL: func.func @sum_of_three() -> tensor<2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.100000e+01, 1.200000e+01], [6.000000e+00, 7.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @choice_0() -> tensor<3x2xf32> {
  %c = onnx.Constant dense<[true, false]> : tensor<2xi1>
  %a = onnx.Constant dense<[[1.0, 3.0], [5.0, 7.0], [9.0, 11.0]]> : tensor<3x2xf32>
  %b = onnx.Constant dense<[[4.0]]> : tensor<1x1xf32>
  %d = "onnx.Where"(%c, %a, %b) : (tensor<2xi1>, tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  onnx.Return %d : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @choice_0() -> tensor<3x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 4.000000e+00], [5.000000e+00, 4.000000e+00], [9.000000e+00, 4.000000e+00]]> : tensor<3x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func.func @choice_1() -> tensor<3x2xf32> {
  %c = onnx.Constant dense<true> : tensor<2xi1>
  %a = onnx.Constant dense<[[1.0, 3.0], [5.0, 7.0], [9.0, 11.0]]> : tensor<3x2xf32>
  %b = onnx.Constant dense<[[4.0]]> : tensor<1x1xf32>
  %d = "onnx.Where"(%c, %a, %b) : (tensor<2xi1>, tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  onnx.Return %d : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @choice_1() -> tensor<3x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 3.000000e+00], [5.000000e+00, 7.000000e+00], [9.000000e+00, 1.100000e+01]]> : tensor<3x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func.func @choice_2() -> tensor<3x2xf32> {
  %c = onnx.Constant dense<false> : tensor<2xi1>
  %a = onnx.Constant dense<[[1.0, 3.0], [5.0, 7.0], [9.0, 11.0]]> : tensor<3x2xf32>
  %b = onnx.Constant dense<[[4.0]]> : tensor<1x1xf32>
  %d = "onnx.Where"(%c, %a, %b) : (tensor<2xi1>, tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  onnx.Return %d : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @choice_2() -> tensor<3x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<4.000000e+00> : tensor<3x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func.func @choice_3() -> tensor<3x2xf32> {
  %c = onnx.Constant dense<[false, true]> : tensor<2xi1>
  %a = onnx.Constant dense<1.5> : tensor<3x2xf32>
  %b = onnx.Constant dense<2.5> : tensor<1x1xf32>
  %d = "onnx.Where"(%c, %a, %b) : (tensor<2xi1>, tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  onnx.Return %d : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @choice_3() -> tensor<3x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}2.500000e+00, 1.500000e+00], [2.500000e+00, 1.500000e+00], [2.500000e+00, 1.500000e+00]]> : tensor<3x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func.func @clip_0() -> tensor<3x2xbf16> {
  %x = onnx.Constant dense<[[3.125, -3.125], [0.0, 0x7FC0], [0xFF80, 0x7F80]]> : tensor<3x2xbf16>
  %none = "onnx.NoValue"() {value} : () -> none
  %lo = onnx.Constant {value = dense<-3.0> : tensor<bf16>} : tensor<bf16>
  %hi = onnx.Constant {value = dense<3.0> : tensor<bf16>} : tensor<bf16>
  %y = "onnx.Clip"(%x, %lo, %hi) : (tensor<3x2xbf16>, tensor<bf16>, tensor<bf16>) -> tensor<3x2xbf16>
  return %y : tensor<3x2xbf16>
}

// CHECK-LABEL: func.func @clip_0() -> tensor<3x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3.000000e+00, -3.000000e+00], [0.000000e+00, 0x7FC0], [-3.000000e+00, 3.000000e+00]]> : tensor<3x2xbf16>
// CHECK-NEXT:   return [[V0]] : tensor<3x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @clip_1() -> tensor<3x2xbf16> {
  %x = onnx.Constant dense<[[3.125, -3.125], [0.0, 0x7FC0], [0xFF80, 0x7F80]]> : tensor<3x2xbf16>
  %none = "onnx.NoValue"() {value} : () -> none
  %hi = onnx.Constant {value = dense<3.0> : tensor<bf16>} : tensor<bf16>
  %y = "onnx.Clip"(%x, %none, %hi) : (tensor<3x2xbf16>, none, tensor<bf16>) -> tensor<3x2xbf16>
  return %y : tensor<3x2xbf16>
}

// CHECK-LABEL: func.func @clip_1() -> tensor<3x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3.000000e+00, -3.125000e+00], [0.000000e+00, 0x7FC0], [-3.389530e+38, 3.000000e+00]]> : tensor<3x2xbf16>
// CHECK-NEXT:   return [[V0]] : tensor<3x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @clip_2() -> tensor<3x2xbf16> {
  %x = onnx.Constant dense<[[3.125, -3.125], [0.0, 0x7FC0], [0xFF80, 0x7F80]]> : tensor<3x2xbf16>
  %none = "onnx.NoValue"() {value} : () -> none
  %lo = onnx.Constant {value = dense<-3.0> : tensor<bf16>} : tensor<bf16>
  %y = "onnx.Clip"(%x, %lo, %none) : (tensor<3x2xbf16>, tensor<bf16>, none) -> tensor<3x2xbf16>
  return %y : tensor<3x2xbf16>
}

// CHECK-LABEL: func.func @clip_2() -> tensor<3x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3.125000e+00, -3.000000e+00], [0.000000e+00, 0x7FC0], [-3.000000e+00, 3.389530e+38]]> : tensor<3x2xbf16>
// CHECK-NEXT:   return [[V0]] : tensor<3x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @clip_3() -> tensor<3x2xbf16> {
  %x = onnx.Constant dense<[[3.125, -3.125], [0.0, 0x7FC0], [0xFF80, 0x7F80]]> : tensor<3x2xbf16>
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Clip"(%x, %none, %none) : (tensor<3x2xbf16>, none, none) -> tensor<3x2xbf16>
  return %y : tensor<3x2xbf16>
}

// CHECK-LABEL: func.func @clip_3() -> tensor<3x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3.125000e+00, -3.125000e+00], [0.000000e+00, 0x7FC0], [-3.389530e+38, 3.389530e+38]]> : tensor<3x2xbf16>
// CHECK-NEXT:   return [[V0]] : tensor<3x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @clip_4() -> tensor<3x2xbf16> {
  %x = onnx.Constant dense<[[3.125, -3.125], [0.0, 0x7FC0], [0xFF80, 0x7F80]]> : tensor<3x2xbf16>
  %none = "onnx.NoValue"() {value} : () -> none
  %lo = onnx.Constant {value = dense<6.0> : tensor<bf16>} : tensor<bf16>
  %hi = onnx.Constant {value = dense<2.0> : tensor<bf16>} : tensor<bf16>
  %y = "onnx.Clip"(%x, %lo, %hi) : (tensor<3x2xbf16>, tensor<bf16>, tensor<bf16>) -> tensor<3x2xbf16>
  return %y : tensor<3x2xbf16>
}

// CHECK-LABEL: func.func @clip_4() -> tensor<3x2xbf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}2.000000e+00, 2.000000e+00], [2.000000e+00, 0x7FC0], [2.000000e+00, 2.000000e+00]]> : tensor<3x2xbf16>
// CHECK-NEXT:   return [[V0]] : tensor<3x2xbf16>
// CHECK-NEXT:   }

// -----

func.func @clip_of_integers() -> tensor<3x2xi32> {
  %x = onnx.Constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %lo = onnx.Constant dense<9> : tensor<i32>
  %hi = onnx.Constant dense<2> : tensor<i32>
  %y = "onnx.Clip"(%x, %lo, %hi) : (tensor<3x2xi32>, tensor<i32>, tensor<i32>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// CHECK-LABEL: func.func @clip_of_integers() -> tensor<3x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<2> : tensor<3x2xi32>
// CHECK-NEXT:   return [[V0]] : tensor<3x2xi32>
// CHECK-NEXT:   }
