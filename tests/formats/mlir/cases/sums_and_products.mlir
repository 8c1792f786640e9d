// RUN: whorl opt --shape-inference --constprop-onnx --split-input-file %s | filecheck %s

func.func @sum_constant_on_the_left(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = onnx.Constant dense<[3.0, 5.0, 7.0]> : tensor<3xf32>
  %y = "onnx.Add"(%c, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  onnx.Return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @sum_constant_on_the_left(%arg0: tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[3.000000e+00, 5.000000e+00, 7.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<3xf32>
// CHECK-NEXT:   }

// -----

func.func @sum_constant_on_the_right(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = onnx.Constant dense<[3.0, 5.0, 7.0]> : tensor<3xf32>
  %y = "onnx.Add"(%x, %c) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  onnx.Return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @sum_constant_on_the_right(%arg0: tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[3.000000e+00, 5.000000e+00, 7.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<3xf32>
// CHECK-NEXT:   }

// -----

func.func @sum_of_two_constants_and_a_value(%x: tensor<3xi32>) -> tensor<3xi32> {
  %a = onnx.Constant dense<[2, 3, 4]> : tensor<3xi32>
  %b = onnx.Constant dense<[20, 30, 40]> : tensor<3xi32>
  %y = "onnx.Add"(%a, %x) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %z = "onnx.Add"(%b, %y) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  onnx.Return %z : tensor<3xi32>
}

// CHECK-LABEL: func.func @sum_of_two_constants_and_a_value(%arg0: tensor<3xi32>) -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[22, 33, 44]> : tensor<3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @sum_of_a_value_with_itself_and_constants(%x: tensor<3xi32>) -> tensor<3xi32> {
  %a = onnx.Constant dense<[2, 3, 4]> : tensor<3xi32>
  %b = onnx.Constant dense<[20, 30, 40]> : tensor<3xi32>
  %y = "onnx.Add"(%a, %x) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %z = "onnx.Add"(%b, %y) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %u = "onnx.Add"(%a, %x) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %w = "onnx.Add"(%z, %u) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  onnx.Return %w : tensor<3xi32>
}

// CHECK-LABEL: func.func @sum_of_a_value_with_itself_and_constants(%arg0: tensor<3xi32>) -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[24, 36, 48]> : tensor<3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, %arg0) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Add"([[V1]], [[V0]]) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V2]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @sum_of_three_values_and_two_constants(%x: tensor<3xi32>, %y: tensor<3xi32>, %z: tensor<3xi32>) -> tensor<3xi32> {
  %a = onnx.Constant dense<[2, 3, 4]> : tensor<3xi32>
  %b = onnx.Constant dense<[5, 6, 7]> : tensor<3xi32>
  %p = "onnx.Add"(%a, %x) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %q = "onnx.Add"(%p, %y) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %r = "onnx.Add"(%b, %z) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %s = "onnx.Add"(%q, %r) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  onnx.Return %s : tensor<3xi32>
}

// CHECK-LABEL: func.func @sum_of_three_values_and_two_constants(%arg0: tensor<3xi32>, %arg1: tensor<3xi32>, %arg2: tensor<3xi32>) -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[7, 9, 11]> : tensor<3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, %arg1) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Add"([[V1]], %arg2) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   [[V3:%.+]] = "onnx.Add"([[V2]], [[V0]]) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V3]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @sum_read_twice_stays(%x: tensor<i32>, %y: tensor<i32>, %z: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %c = onnx.Constant dense<9> : tensor<i32>
  %p = "onnx.Add"(%x, %c) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %q = "onnx.Add"(%p, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = "onnx.Add"(%p, %z) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  onnx.Return %q, %r : tensor<i32>, tensor<i32>
}

// CHECK-LABEL: func.func @sum_read_twice_stays(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<9> : tensor<i32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Add"([[V1]], %arg1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT:   [[V3:%.+]] = "onnx.Add"([[V1]], %arg2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT:   onnx.Return [[V2]], [[V3]] : tensor<i32>, tensor<i32>
// CHECK-NEXT:   }

// -----

func.func @sum_of_scalars_stays_left(%x: tensor<1xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %c = onnx.Constant dense<9> : tensor<i32>
  %p = "onnx.Add"(%x, %c) : (tensor<1xi32>, tensor<i32>) -> tensor<1xi32>
  %q = "onnx.Add"(%p, %y) : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  onnx.Return %q : tensor<4xi32>
}

// CHECK-LABEL: func.func @sum_of_scalars_stays_left(%arg0: tensor<1xi32>, %arg1: tensor<4xi32>) -> tensor<4xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<9> : tensor<i32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<1xi32>, tensor<i32>) -> tensor<1xi32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Add"([[V1]], %arg1) : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT:   onnx.Return [[V2]] : tensor<4xi32>
// CHECK-NEXT:   }

// -----

func.func @sum_of_scalars_stays_right(%x: tensor<4xi32>, %y: tensor<1xi32>) -> tensor<4xi32> {
  %c = onnx.Constant dense<9> : tensor<i32>
  %p = "onnx.Add"(%y, %c) : (tensor<1xi32>, tensor<i32>) -> tensor<1xi32>
  %q = "onnx.Add"(%x, %p) : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>
  onnx.Return %q : tensor<4xi32>
}

// CHECK-LABEL: func.func @sum_of_scalars_stays_right(%arg0: tensor<4xi32>, %arg1: tensor<1xi32>) -> tensor<4xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<9> : tensor<i32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg1, [[V0]]) : (tensor<1xi32>, tensor<i32>) -> tensor<1xi32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Add"(%arg0, [[V1]]) : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>
// CHECK-NEXT:   onnx.Return [[V2]] : tensor<4xi32>
// CHECK-NEXT:   }

// -----

func.func @sum_constant_moves_out_on_the_right(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %p = "onnx.Add"(%y, %c) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %q = "onnx.Add"(%x, %p) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  onnx.Return %q : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @sum_constant_moves_out_on_the_right(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>) -> tensor<2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, %arg1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Add"([[V1]], [[V0]]) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V2]] : tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @sum_of_dynamic_shapes(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %a = onnx.Constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  %b = onnx.Constant dense<4.0> : tensor<f32>
  %p = "onnx.Add"(%a, %x) : (tensor<1x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %q = "onnx.Add"(%p, %b) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  onnx.Return %q : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @sum_of_dynamic_shapes(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}5.000000e+00, 6.000000e+00, 7.000000e+00]]> : tensor<1x3xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<?x3xf32>
// CHECK-NEXT:   }

// -----

func.func @sum_broadcast_of_one_element(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %a = onnx.Constant dense<[4]> : tensor<1xi32>
  %b = onnx.Constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %c = "onnx.Add"(%a, %b) : (tensor<1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %d = "onnx.Add"(%c, %x) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  onnx.Return %d : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @sum_broadcast_of_one_element(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}5, 6, 7], [8, 9, 10]]> : tensor<2x3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2x3xi32>
// CHECK-NEXT:   }

// -----

func.func @sum_broadcast_of_a_column(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %a = onnx.Constant dense<[[4], [5]]> : tensor<2x1xi32>
  %b = onnx.Constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %c = "onnx.Add"(%a, %b) : (tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %d = "onnx.Add"(%c, %x) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  onnx.Return %d : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @sum_broadcast_of_a_column(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}5, 6, 7], [9, 10, 11]]> : tensor<2x3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2x3xi32>
// CHECK-NEXT:   }

// -----

func.func @product_constant_on_the_left(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = onnx.Constant dense<[3.0, 5.0, 7.0]> : tensor<3xf32>
  %y = "onnx.Mul"(%c, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  onnx.Return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @product_constant_on_the_left(%arg0: tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[3.000000e+00, 5.000000e+00, 7.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, [[V0]]) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<3xf32>
// CHECK-NEXT:   }

// -----

func.func @product_constant_on_the_right(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = onnx.Constant dense<[3.0, 5.0, 7.0]> : tensor<3xf32>
  %y = "onnx.Mul"(%x, %c) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  onnx.Return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @product_constant_on_the_right(%arg0: tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[3.000000e+00, 5.000000e+00, 7.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, [[V0]]) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<3xf32>
// CHECK-NEXT:   }

// -----

func.func @product_of_two_constants_and_a_value(%x: tensor<3xi32>) -> tensor<3xi32> {
  %a = onnx.Constant dense<[2, 3, 4]> : tensor<3xi32>
  %b = onnx.Constant dense<[20, 30, 40]> : tensor<3xi32>
  %y = "onnx.Mul"(%a, %x) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %z = "onnx.Mul"(%b, %y) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  onnx.Return %z : tensor<3xi32>
}

// CHECK-LABEL: func.func @product_of_two_constants_and_a_value(%arg0: tensor<3xi32>) -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[40, 90, 160]> : tensor<3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, [[V0]]) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @product_of_a_value_with_itself_and_constants(%x: tensor<3xi32>) -> tensor<3xi32> {
  %a = onnx.Constant dense<[2, 3, 4]> : tensor<3xi32>
  %b = onnx.Constant dense<[20, 30, 40]> : tensor<3xi32>
  %y = "onnx.Mul"(%a, %x) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %z = "onnx.Mul"(%b, %y) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %u = "onnx.Mul"(%a, %x) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %w = "onnx.Mul"(%z, %u) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  onnx.Return %w : tensor<3xi32>
}

// CHECK-LABEL: func.func @product_of_a_value_with_itself_and_constants(%arg0: tensor<3xi32>) -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[80, 270, 640]> : tensor<3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, %arg0) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Mul"([[V1]], [[V0]]) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V2]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @product_of_three_values_and_two_constants(%x: tensor<3xi32>, %y: tensor<3xi32>, %z: tensor<3xi32>) -> tensor<3xi32> {
  %a = onnx.Constant dense<[2, 3, 4]> : tensor<3xi32>
  %b = onnx.Constant dense<[5, 6, 7]> : tensor<3xi32>
  %p = "onnx.Mul"(%a, %x) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %q = "onnx.Mul"(%p, %y) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %r = "onnx.Mul"(%b, %z) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %s = "onnx.Mul"(%q, %r) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  onnx.Return %s : tensor<3xi32>
}

// CHECK-LABEL: func.func @product_of_three_values_and_two_constants(%arg0: tensor<3xi32>, %arg1: tensor<3xi32>, %arg2: tensor<3xi32>) -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[10, 18, 28]> : tensor<3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, %arg1) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Mul"([[V1]], %arg2) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   [[V3:%.+]] = "onnx.Mul"([[V2]], [[V0]]) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V3]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @product_read_twice_stays(%x: tensor<i32>, %y: tensor<i32>, %z: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %c = onnx.Constant dense<9> : tensor<i32>
  %p = "onnx.Mul"(%x, %c) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %q = "onnx.Mul"(%p, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = "onnx.Mul"(%p, %z) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  onnx.Return %q, %r : tensor<i32>, tensor<i32>
}

// CHECK-LABEL: func.func @product_read_twice_stays(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<9> : tensor<i32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, [[V0]]) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Mul"([[V1]], %arg1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT:   [[V3:%.+]] = "onnx.Mul"([[V1]], %arg2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT:   onnx.Return [[V2]], [[V3]] : tensor<i32>, tensor<i32>
// CHECK-NEXT:   }

// -----

func.func @product_of_scalars_stays_left(%x: tensor<1xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %c = onnx.Constant dense<9> : tensor<i32>
  %p = "onnx.Mul"(%x, %c) : (tensor<1xi32>, tensor<i32>) -> tensor<1xi32>
  %q = "onnx.Mul"(%p, %y) : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  onnx.Return %q : tensor<4xi32>
}

// CHECK-LABEL: func.func @product_of_scalars_stays_left(%arg0: tensor<1xi32>, %arg1: tensor<4xi32>) -> tensor<4xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<9> : tensor<i32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, [[V0]]) : (tensor<1xi32>, tensor<i32>) -> tensor<1xi32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Mul"([[V1]], %arg1) : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT:   onnx.Return [[V2]] : tensor<4xi32>
// CHECK-NEXT:   }

// -----

func.func @product_of_scalars_stays_right(%x: tensor<4xi32>, %y: tensor<1xi32>) -> tensor<4xi32> {
  %c = onnx.Constant dense<9> : tensor<i32>
  %p = "onnx.Mul"(%y, %c) : (tensor<1xi32>, tensor<i32>) -> tensor<1xi32>
  %q = "onnx.Mul"(%x, %p) : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>
  onnx.Return %q : tensor<4xi32>
}

// CHECK-LABEL: func.func @product_of_scalars_stays_right(%arg0: tensor<4xi32>, %arg1: tensor<1xi32>) -> tensor<4xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<9> : tensor<i32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg1, [[V0]]) : (tensor<1xi32>, tensor<i32>) -> tensor<1xi32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Mul"(%arg0, [[V1]]) : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>
// CHECK-NEXT:   onnx.Return [[V2]] : tensor<4xi32>
// CHECK-NEXT:   }

// -----

func.func @product_constant_moves_out_on_the_right(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %p = "onnx.Mul"(%y, %c) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %q = "onnx.Mul"(%x, %p) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  onnx.Return %q : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @product_constant_moves_out_on_the_right(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>) -> tensor<2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, %arg1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Mul"([[V1]], [[V0]]) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:   onnx.Return [[V2]] : tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @product_of_dynamic_shapes(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %a = onnx.Constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  %b = onnx.Constant dense<4.0> : tensor<f32>
  %p = "onnx.Mul"(%a, %x) : (tensor<1x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %q = "onnx.Mul"(%p, %b) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  onnx.Return %q : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @product_of_dynamic_shapes(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}4.000000e+00, 8.000000e+00, 1.200000e+01]]> : tensor<1x3xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, [[V0]]) : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<?x3xf32>
// CHECK-NEXT:   }

// -----

func.func @product_broadcast_of_one_element(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %a = onnx.Constant dense<[4]> : tensor<1xi32>
  %b = onnx.Constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %c = "onnx.Mul"(%a, %b) : (tensor<1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %d = "onnx.Mul"(%c, %x) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  onnx.Return %d : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @product_broadcast_of_one_element(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}4, 8, 12], [16, 20, 24]]> : tensor<2x3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, [[V0]]) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2x3xi32>
// CHECK-NEXT:   }

// -----

func.func @product_broadcast_of_a_column(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %a = onnx.Constant dense<[[4], [5]]> : tensor<2x1xi32>
  %b = onnx.Constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %c = "onnx.Mul"(%a, %b) : (tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %d = "onnx.Mul"(%c, %x) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  onnx.Return %d : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @product_broadcast_of_a_column(%arg0: tensor<2x3xi32>) -> tensor<2x3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}4, 8, 12], [20, 25, 30]]> : tensor<2x3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, [[V0]]) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2x3xi32>
// CHECK-NEXT:   }

// -----

func.func @sum_with_zeros(%x: tensor<3xi32>) -> tensor<3xi32> {
  %c = onnx.Constant dense<[0, 0, 0]> : tensor<3xi32>
  %y = "onnx.Add"(%x, %c) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  onnx.Return %y : tensor<3xi32>
}

// CHECK-LABEL: func.func @sum_with_zeros(%arg0: tensor<3xi32>) -> tensor<3xi32> {
// CHECK-NEXT:   onnx.Return %arg0 : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @sum_with_zeros_that_broadcast_stays(%x: tensor<3xi32>) -> tensor<2x3xi32> {
  %c = onnx.Constant dense<0> : tensor<2x3xi32>
  %y = "onnx.Add"(%x, %c) : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  onnx.Return %y : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @sum_with_zeros_that_broadcast_stays(%arg0: tensor<3xi32>) -> tensor<2x3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<2x3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2x3xi32>
// CHECK-NEXT:   }

// -----

func.func @product_with_ones(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = onnx.Constant dense<1.0> : tensor<2x2xf32>
  %y = "onnx.Mul"(%x, %c) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  onnx.Return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @product_with_ones(%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {
// CHECK-NEXT:   onnx.Return %arg0 : tensor<2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @product_with_ones_on_the_left(%x: tensor<2x2xf16>) -> tensor<2x2xf16> {
  %c = onnx.Constant dense<1.0> : tensor<f16>
  %y = "onnx.Mul"(%c, %x) : (tensor<f16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  onnx.Return %y : tensor<2x2xf16>
}

// CHECK-LABEL: func.func @product_with_ones_on_the_left(%arg0: tensor<2x2xf16>) -> tensor<2x2xf16> {
// CHECK-NEXT:   onnx.Return %arg0 : tensor<2x2xf16>
// CHECK-NEXT:   }

// -----

func.func @difference_of_constants() -> tensor<3x2xi32> {
  %a = onnx.Constant dense<[[12, 13], [14, 15], [16, 17]]> : tensor<3x2xi32>
  %b = onnx.Constant dense<[[3]]> : tensor<1x1xi32>
  %c = "onnx.Sub"(%a, %b) : (tensor<3x2xi32>, tensor<1x1xi32>) -> tensor<3x2xi32>
  onnx.Return %c : tensor<3x2xi32>
}

// CHECK-LABEL: func.func @difference_of_constants() -> tensor<3x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}9, 10], [11, 12], [13, 14]]> : tensor<3x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xi32>
// CHECK-NEXT:   }

// -----

func.func @difference_with_zeros(%x: tensor<f32>) -> tensor<f32> {
  %c = onnx.Constant dense<0.0> : tensor<f32>
  %y = "onnx.Sub"(%x, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  onnx.Return %y : tensor<f32>
}

// CHECK-LABEL: func.func @difference_with_zeros(%arg0: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:   onnx.Return %arg0 : tensor<f32>
// CHECK-NEXT:   }

// -----

func.func @difference_becomes_a_sum(%x: tensor<3x2xi32>) -> tensor<3x2xi32> {
  %a = onnx.Constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %c = "onnx.Sub"(%x, %a) : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
  onnx.Return %c : tensor<3x2xi32>
}

// CHECK-LABEL: func.func @difference_becomes_a_sum(%arg0: tensor<3x2xi32>) -> tensor<3x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}-1, -2], [-3, -4], [-5, -6]]> : tensor<3x2xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<3x2xi32>
// CHECK-NEXT:   }

// -----

func.func @difference_of_floats_becomes_a_sum(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = onnx.Constant dense<[1.5, -2.0]> : tensor<2xf32>
  %c = "onnx.Sub"(%x, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %c : tensor<2xf32>
}

// CHECK-LABEL: func.func @difference_of_floats_becomes_a_sum(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[-1.500000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @difference_then_sum(%x: tensor<3x2xi32>) -> tensor<3x2xi32> {
  %a = onnx.Constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %b = onnx.Constant dense<[[100]]> : tensor<1x1xi32>
  %c = "onnx.Sub"(%x, %a) : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
  %d = "onnx.Add"(%c, %b) : (tensor<3x2xi32>, tensor<1x1xi32>) -> tensor<3x2xi32>
  onnx.Return %d : tensor<3x2xi32>
}

// CHECK-LABEL: func.func @difference_then_sum(%arg0: tensor<3x2xi32>) -> tensor<3x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}99, 98], [97, 96], [95, 94]]> : tensor<3x2xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<3x2xi32>
// CHECK-NEXT:   }

// -----

func.func @sum_with_a_negated_constant(%x: tensor<3x2xi32>) -> tensor<3x2xi32> {
  %a = onnx.Constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %b = onnx.Constant dense<[[100]]> : tensor<1x1xi32>
  %n = "onnx.Neg"(%a) : (tensor<3x2xi32>) -> tensor<3x2xi32>
  %c = "onnx.Add"(%x, %n) : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
  %d = "onnx.Add"(%c, %b) : (tensor<3x2xi32>, tensor<1x1xi32>) -> tensor<3x2xi32>
  onnx.Return %d : tensor<3x2xi32>
}

// CHECK-LABEL: func.func @sum_with_a_negated_constant(%arg0: tensor<3x2xi32>) -> tensor<3x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}99, 98], [97, 96], [95, 94]]> : tensor<3x2xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<3x2xi32>
// CHECK-NEXT:   }

// -----

func.func @constant_minus_value_stays(%x: tensor<3xi32>) -> tensor<3xi32> {
  %a = onnx.Constant dense<[1, 2, 3]> : tensor<3xi32>
  %c = "onnx.Sub"(%a, %x) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  onnx.Return %c : tensor<3xi32>
}

// CHECK-LABEL: func.func @constant_minus_value_stays(%arg0: tensor<3xi32>) -> tensor<3xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[1, 2, 3]> : tensor<3xi32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Sub"([[V0]], %arg0) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<3xi32>
// CHECK-NEXT:   }

// -----

func.func @quotient_of_constants() -> tensor<3x2xf32> {
  %a = onnx.Constant dense<[[3.0, 6.0], [9.0, 12.0], [15.0, 18.0]]> : tensor<3x2xf32>
  %b = onnx.Constant dense<[[3.0]]> : tensor<1x1xf32>
  %c = "onnx.Div"(%a, %b) : (tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  onnx.Return %c : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @quotient_of_constants() -> tensor<3x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func.func @quotient_of_integers_goes_towards_zero() -> tensor<4xi32> {
  %a = onnx.Constant dense<[7, -7, 7, -7]> : tensor<4xi32>
  %b = onnx.Constant dense<[2, 2, -2, -2]> : tensor<4xi32>
  %c = "onnx.Div"(%a, %b) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  onnx.Return %c : tensor<4xi32>
}

// CHECK-LABEL: func.func @quotient_of_integers_goes_towards_zero() -> tensor<4xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[3, -3, -3, 3]> : tensor<4xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4xi32>
// CHECK-NEXT:   }

// -----

func.func @quotient_by_ones(%x: tensor<1x2xui8>) -> tensor<1x2xui8> {
  %c = onnx.Constant dense<[[1, 1]]> : tensor<1x2xui8>
  %y = "onnx.Div"(%x, %c) : (tensor<1x2xui8>, tensor<1x2xui8>) -> tensor<1x2xui8>
  onnx.Return %y : tensor<1x2xui8>
}

// CHECK-LABEL: func.func @quotient_by_ones(%arg0: tensor<1x2xui8>) -> tensor<1x2xui8> {
// CHECK-NEXT:   onnx.Return %arg0 : tensor<1x2xui8>
// CHECK-NEXT:   }

// -----

func.func @quotient_by_zero_is_the_dividend() -> tensor<2xui32> {
  %a = onnx.Constant dense<[6, 8]> : tensor<2xui32>
  %b = onnx.Constant dense<[0]> : tensor<1xui32>
  %y = "onnx.Div"(%a, %b) : (tensor<2xui32>, tensor<1xui32>) -> tensor<2xui32>
  onnx.Return %y : tensor<2xui32>
}

// CHECK-LABEL: func.func @quotient_by_zero_is_the_dividend() -> tensor<2xui32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[6, 8]> : tensor<2xui32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xui32>
// CHECK-NEXT:   }
