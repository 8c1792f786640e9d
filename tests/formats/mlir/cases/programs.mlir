// RUN: whorl opt --shape-inference --constprop-onnx --split-input-file %s | filecheck %s

func.func @weights_of_a_convolution(%x: tensor<1x1x5x5xf32>) -> tensor<*xf32> {
  %w = onnx.Constant dense<[[[[0.0234164055, 0.0228030644], [2.442580e-02, 0.0237577036]]], [[[-4.34581793E-9, 0.025325032], [0.0373019315, 0.165243402]]]]> : tensor<2x1x2x2xf32>
  %none = "onnx.NoValue"() {value} : () -> none
  %s = onnx.Constant dense<[[[-0.161539719]], [[0.091641359]]]> : tensor<2x1x1xf32>
  %u = "onnx.UnsqueezeV11"(%s) {axes = [3]} : (tensor<2x1x1xf32>) -> tensor<2x1x1x1xf32>
  %v = "onnx.Mul"(%w, %u) : (tensor<2x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<2x1x2x2xf32>
  %y = "onnx.Conv"(%x, %v, %none) {auto_pad = "NOTSET", group = 1 : si64, kernel_shape = [2, 2], strides = [1, 1]} : (tensor<1x1x5x5xf32>, tensor<2x1x2x2xf32>, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @weights_of_a_convolution(%arg0: tensor<1x1x5x5xf32>) -> tensor<1x2x4x4xf32> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.NoValue"() <{value}> : () -> none
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<{{\[\[\[\[}}-0.00378267956, -0.00368360057], [-0.00394573715, -0.00383781269]]], {{\[\[\[}}-3.9825665E-10, 0.00232082023], [0.00341839972, 0.01514313]]]]> : tensor<2x1x2x2xf32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Conv"(%arg0, [[V1]], [[V0]]) <{auto_pad = "NOTSET", group = 1 : si64, kernel_shape = [2, 2], strides = [1, 1]}> : (tensor<1x1x5x5xf32>, tensor<2x1x2x2xf32>, none) -> tensor<1x2x4x4xf32>
// CHECK-NEXT:   onnx.Return [[V2]] : tensor<1x2x4x4xf32>
// CHECK-NEXT:   }

// -----

func.func @branch_of_true(%x: tensor<*xf16>, %a: tensor<1xi64>, %z: tensor<*xf16>) -> tensor<?xi64> {
  %c = onnx.Constant dense<true> : tensor<1xi1>
  %r = "onnx.If"(%c) ({
    %k = onnx.Constant dense<2> : tensor<1xi64>
    %p = "onnx.Squeeze"(%x, %a) : (tensor<*xf16>, tensor<1xi64>) -> tensor<?x?xf16>
    onnx.Yield %p : tensor<?x?xf16>
  }, {
    %p = "onnx.Identity"(%z) : (tensor<*xf16>) -> tensor<?x?x?xf16>
    onnx.Yield %p : tensor<?x?x?xf16>
  }) : (tensor<1xi1>) -> tensor<*xf16>
  %s = "onnx.Shape"(%r) {start = 0 : si64} : (tensor<*xf16>) -> tensor<?xi64>
  onnx.Return %s : tensor<?xi64>
}

// CHECK-LABEL: func.func @branch_of_true(%arg0: tensor<*xf16>, %arg1: tensor<1xi64>, %arg2: tensor<*xf16>) -> tensor<?xi64> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.Squeeze"(%arg0, %arg1) : (tensor<*xf16>, tensor<1xi64>) -> tensor<?x?xf16>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Shape"([[V0]]) <{start = 0 : si64}> : (tensor<?x?xf16>) -> tensor<?xi64>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<?xi64>
// CHECK-NEXT:   }

// -----

func.func @branch_of_false(%x: tensor<*xf16>, %a: tensor<1xi64>, %z: tensor<*xf16>) -> tensor<?xi64> {
  %c = onnx.Constant dense<false> : tensor<1xi1>
  %r = "onnx.If"(%c) ({
    %k = onnx.Constant dense<2> : tensor<1xi64>
    %p = "onnx.Squeeze"(%x, %a) : (tensor<*xf16>, tensor<1xi64>) -> tensor<?x?xf16>
    onnx.Yield %p : tensor<?x?xf16>
  }, {
    %p = "onnx.Identity"(%z) : (tensor<*xf16>) -> tensor<?x?x?xf16>
    onnx.Yield %p : tensor<?x?x?xf16>
  }) : (tensor<1xi1>) -> tensor<*xf16>
  %s = "onnx.Shape"(%r) {start = 0 : si64} : (tensor<*xf16>) -> tensor<?xi64>
  onnx.Return %s : tensor<?xi64>
}

// CHECK-LABEL: func.func @branch_of_false(%arg0: tensor<*xf16>, %arg1: tensor<1xi64>, %arg2: tensor<*xf16>) -> tensor<?xi64> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.Identity"(%arg2) : (tensor<*xf16>) -> tensor<?x?x?xf16>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Shape"([[V0]]) <{start = 0 : si64}> : (tensor<?x?x?xf16>) -> tensor<?xi64>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<?xi64>
// CHECK-NEXT:   }

// -----

func.func @branch_with_a_computed_condition(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = onnx.Constant dense<3> : tensor<i64>
  %b = onnx.Constant dense<4> : tensor<i64>
  %c = "onnx.Less"(%a, %b) : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = "onnx.If"(%c) ({
    %k = onnx.Constant dense<2.0> : tensor<f32>
    %h = onnx.Constant dense<0.5> : tensor<f32>
    %m = "onnx.Mul"(%k, %h) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %p = "onnx.Div"(%x, %m) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    onnx.Yield %p : tensor<2xf32>
  }, {
    onnx.Yield %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  onnx.Return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @branch_with_a_computed_condition(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:   onnx.Return %arg0 : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @constants_inside_a_branch(%x: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
  %r = "onnx.If"(%c) ({
    %k = onnx.Constant dense<2.0> : tensor<f32>
    %h = onnx.Constant dense<0.5> : tensor<f32>
    %m = "onnx.Add"(%k, %h) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %p = "onnx.Div"(%x, %m) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    onnx.Yield %p : tensor<2xf32>
  }, {
    onnx.Yield %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  onnx.Return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @constants_inside_a_branch(%arg0: tensor<2xf32>, %arg1: tensor<i1>) -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.If"(%arg1) ({
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<2.500000e+00> : tensor<f32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Div"(%arg0, [[V1]]) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Yield [[V2]] : tensor<2xf32>
// CHECK-NEXT:   }, {
// CHECK-NEXT:   onnx.Yield %arg0 : tensor<2xf32>
// CHECK-NEXT:   }) : (tensor<i1>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @constants_inside_a_loop(%n: tensor<i64>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %t = onnx.Constant dense<true> : tensor<i1>
  %k = onnx.Constant dense<2.0> : tensor<f32>
  %r = "onnx.Loop"(%n, %t, %x) ({
  ^bb0(%i: tensor<i64>, %g: tensor<i1>, %s: tensor<2xf32>):
    %h = onnx.Constant dense<0.5> : tensor<f32>
    %m = "onnx.Add"(%h, %h) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %q = "onnx.Add"(%m, %s) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %g, %q : tensor<i1>, tensor<2xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @constants_inside_a_loop(%arg0: tensor<i64>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Loop"(%arg0, [[V0]], %arg1) ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<i64>, %arg3: tensor<i1>, %arg4: tensor<2xf32>):
// CHECK-NEXT:   [[V2:%.+]] = onnx.Constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[V3:%.+]] = "onnx.Add"(%arg4, [[V2]]) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Yield %arg3, [[V3]] : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:   }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @shapes_are_left(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %s = "onnx.Shape"(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
  onnx.Return %s : tensor<2xi64>
}

// CHECK-LABEL: func.func @shapes_are_left(%arg0: tensor<2x3xf32>) -> tensor<2xi64> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.Shape"(%arg0) <{start = 0 : si64}> : (tensor<2x3xf32>) -> tensor<2xi64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xi64>
// CHECK-NEXT:   }

// -----

func.func @a_model_with_names(%x: tensor<?x2xf32> {onnx.dim_params = "0:batch", onnx.name = "in"}) -> (tensor<?x2xf32> {onnx.name = "out"}) {
  %a = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = onnx.Constant dense<[0.5, 0.5]> : tensor<2xf32>
  %c = "onnx.Mul"(%a, %b) {onnx_node_name = "weights"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %y = "onnx.Add"(%x, %c) {onnx_node_name = "shift"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  onnx.Return %y : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @a_model_with_names(%arg0: tensor<?x2xf32> {onnx.dim_params = "0:batch", onnx.name = "in"}) -> (tensor<?x2xf32> {onnx.name = "out"}) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[5.000000e-01, 1.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) {onnx_node_name = "shift"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<?x2xf32>
// CHECK-NEXT:   }

// -----

func.func @constants_from_around_a_loop(%n: tensor<i64>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %t = onnx.Constant dense<true> : tensor<i1>
  %k = onnx.Constant dense<[2.0, 3.0]> : tensor<2xf32>
  %o = onnx.Constant dense<1.0> : tensor<2xf32>
  %r = "onnx.Loop"(%n, %t, %x) ({
  ^bb0(%i: tensor<i64>, %g: tensor<i1>, %s: tensor<2xf32>):
    %m = "onnx.Sub"(%s, %k) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %q = "onnx.Add"(%m, %o) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %g, %q : tensor<i1>, tensor<2xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @constants_from_around_a_loop(%arg0: tensor<i64>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Loop"(%arg0, [[V0]], %arg1) ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<i64>, %arg3: tensor<i1>, %arg4: tensor<2xf32>):
// CHECK-NEXT:   [[V2:%.+]] = onnx.Constant dense<[-1.000000e+00, -2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   [[V3:%.+]] = "onnx.Add"(%arg4, [[V2]]) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Yield %arg3, [[V3]] : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:   }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @branch_inside_a_loop(%n: tensor<i64>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %t = onnx.Constant dense<true> : tensor<i1>
  %f = onnx.Constant dense<false> : tensor<i1>
  %r = "onnx.Loop"(%n, %t, %x) ({
  ^bb0(%i: tensor<i64>, %g: tensor<i1>, %s: tensor<2xf32>):
    %q = "onnx.If"(%f) ({
      %a = "onnx.Exp"(%s) : (tensor<2xf32>) -> tensor<2xf32>
      onnx.Yield %a : tensor<2xf32>
    }, {
      %a = "onnx.Neg"(%s) : (tensor<2xf32>) -> tensor<2xf32>
      onnx.Yield %a : tensor<2xf32>
    }) : (tensor<i1>) -> tensor<2xf32>
    onnx.Yield %g, %q : tensor<i1>, tensor<2xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @branch_inside_a_loop(%arg0: tensor<i64>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<true> : tensor<i1>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Loop"(%arg0, [[V0]], %arg1) ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<i64>, %arg3: tensor<i1>, %arg4: tensor<2xf32>):
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Neg"(%arg4) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Yield %arg3, [[V2]] : tensor<i1>, tensor<2xf32>
// CHECK-NEXT:   }) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @constants_inside_a_scan(%x: tensor<2xf32>, %xs: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  %r, %rs = "onnx.Scan"(%x, %xs) <{num_scan_inputs = 1 : si64}> ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>):
    %h = onnx.Constant dense<0.5> : tensor<f32>
    %k = onnx.Constant dense<4.0> : tensor<f32>
    %m = "onnx.Mul"(%h, %k) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %q = "onnx.Mul"(%m, %e) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
    %w = "onnx.Add"(%q, %s) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %w, %q : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
  onnx.Return %r, %rs : tensor<2xf32>, tensor<3x2xf32>
}

// CHECK-LABEL: func.func @constants_inside_a_scan(%arg0: tensor<2xf32>, %arg1: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
// CHECK-NEXT:   [[V0:%.+]]:2 = "onnx.Scan"(%arg0, %arg1) <{num_scan_inputs = 1 : si64}> ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<2xf32>, %arg3: tensor<2xf32>):
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Mul"(%arg3, [[V1]]) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:   [[V3:%.+]] = "onnx.Add"([[V2]], %arg2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Yield [[V3]], [[V2]] : tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT:   }) : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
// CHECK-NEXT:   onnx.Return [[V0]]#0, [[V0]]#1 : tensor<2xf32>, tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func @old_names_of_functions_and_returns() -> tensor<f32> {
  %0 = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %1 = "onnx.Constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %2 = "onnx.Add"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "std.return"(%2) : (tensor<f32>) -> ()
}

// CHECK-LABEL: func.func @old_names_of_functions_and_returns() -> tensor<f32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:   return [[V0]] : tensor<f32>
// CHECK-NEXT:   }

// -----

func.func @nothing() -> none {
  %0 = "onnx.NoValue"() {value} : () -> none
  onnx.Return %0 : none
}

// CHECK-LABEL: func.func @nothing() -> none {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.NoValue"() <{value}> : () -> none
// CHECK-NEXT:   onnx.Return [[V0]] : none
// CHECK-NEXT:   }

// -----

func.func @arguments_and_results_of_none(%n: none, %x: tensor<2xf32>) -> (none, tensor<2xf32>) {
  %0 = "onnx.Clip"(%x, %n, %n) : (tensor<2xf32>, none, none) -> tensor<2xf32>
  onnx.Return %n, %0 : none, tensor<2xf32>
}

// CHECK-LABEL: func.func @arguments_and_results_of_none(%arg0: none, %arg1: tensor<2xf32>) -> (none, tensor<2xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.NoValue"() <{value}> : () -> none
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Clip"(%arg1, [[V0]], [[V0]]) : (tensor<2xf32>, none, none) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : none, tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @version_that_was_deprecated_when_it_was_new(%x: tensor<1x4x2xf32>) -> tensor<1x4x2xf32> {
  %s = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = onnx.Constant dense<[3.0, 4.0]> : tensor<2xf32>
  %y = "onnx.GroupNormalizationV18"(%x, %s, %b) {num_groups = 2 : si64} : (tensor<1x4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x4x2xf32>
  onnx.Return %y : tensor<1x4x2xf32>
}

// CHECK-LABEL: func.func @version_that_was_deprecated_when_it_was_new(%arg0: tensor<1x4x2xf32>) -> tensor<1x4x2xf32> {
// CHECK:   "onnx.GroupNormalization"(%arg0, [[S:%.+]], [[B:%.+]]) <{{{epsilon = 9.99999974E-6 : f32, num_groups = 2 : si64, stash_type = 1 : si64}}}>
