// RUN: whorl opt --split-input-file %s | filecheck %s

func.func @loop(%n: tensor<i64>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r:2 = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %g: tensor<i1>, %s: tensor<2xf32>):
    %q = "onnx.Add"(%s, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %g, %q, %s : tensor<i1>, tensor<2xf32>, tensor<2xf32>
  }) {onnx_node_name = "steps"} : (tensor<i64>, none, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)
  onnx.Return %r#0, %r#1 : tensor<2xf32>, tensor<?x2xf32>
}

// CHECK-LABEL: func.func @loop(%arg0: tensor<i64>, %arg1: tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.NoValue"() <{value}> : () -> none
// CHECK-NEXT:   [[V1:%.+]]:2 = "onnx.Loop"(%arg0, [[V0]], %arg1) ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<i64>, %arg3: tensor<i1>, %arg4: tensor<2xf32>):
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Add"(%arg4, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Yield %arg3, [[V2]], %arg4 : tensor<i1>, tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT:   }) {onnx_node_name = "steps"} : (tensor<i64>, none, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)
// CHECK-NEXT:   onnx.Return [[V1]]#0, [[V1]]#1 : tensor<2xf32>, tensor<?x2xf32>
// CHECK-NEXT:   }

// -----

func.func @scan(%x: tensor<2xf32>, %xs: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
  %r, %rs = "onnx.Scan"(%x, %xs) <{num_scan_inputs = 1 : si64}> ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>):
    %q = "onnx.Add"(%s, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %q, %q : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
  onnx.Return %r, %rs : tensor<2xf32>, tensor<3x2xf32>
}

// CHECK-LABEL: func.func @scan(%arg0: tensor<2xf32>, %arg1: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
// CHECK-NEXT:   [[V0:%.+]]:2 = "onnx.Scan"(%arg0, %arg1) <{num_scan_inputs = 1 : si64}> ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<2xf32>, %arg3: tensor<2xf32>):
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg2, %arg3) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Yield [[V1]], [[V1]] : tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT:   }) : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
// CHECK-NEXT:   onnx.Return [[V0]]#0, [[V0]]#1 : tensor<2xf32>, tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func.func @branches_inside_branches(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = "onnx.If"(%c) ({
    %a = "onnx.If"(%c) ({
      %b = "onnx.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
      onnx.Yield %b : tensor<2xf32>
    }, {
      onnx.Yield %x : tensor<2xf32>
    }) : (tensor<i1>) -> tensor<2xf32>
    onnx.Yield %a : tensor<2xf32>
  }, {
    %a = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %a : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  %s = "onnx.Abs"(%r) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %s : tensor<2xf32>
}

// CHECK-LABEL: func.func @branches_inside_branches(%arg0: tensor<i1>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.If"(%arg0) ({
// CHECK-NEXT:   [[V2:%.+]] = "onnx.If"(%arg0) ({
// CHECK-NEXT:   [[V3:%.+]] = "onnx.Neg"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Yield [[V3]] : tensor<2xf32>
// CHECK-NEXT:   }, {
// CHECK-NEXT:   onnx.Yield %arg1 : tensor<2xf32>
// CHECK-NEXT:   }) : (tensor<i1>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Yield [[V2]] : tensor<2xf32>
// CHECK-NEXT:   }, {
// CHECK-NEXT:   [[V2]] = "onnx.Relu"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Yield [[V2]] : tensor<2xf32>
// CHECK-NEXT:   }) : (tensor<i1>) -> tensor<2xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Abs"([[V0]]) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @kinds_of_attributes(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %a = "onnx.LeakyRelu"(%x) {alpha = 0.1 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = "onnx.Transpose"(%a) <{perm = [1, 0]}> : (tensor<?x4xf32>) -> tensor<4x?xf32>
  %c = "onnx.Transpose"(%b) <{perm = [1, 0]}> : (tensor<4x?xf32>) -> tensor<?x4xf32>
  %d = "onnx.Cast"(%c) {to = f64} : (tensor<?x4xf32>) -> tensor<?x4xf64>
  %e = "onnx.Cast"(%d) {to = f32, saturate = 1 : si64} : (tensor<?x4xf64>) -> tensor<?x4xf32>
  onnx.Return %e : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @kinds_of_attributes(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.LeakyRelu"(%arg0) <{alpha = 1.000000e-01 : f32}> : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Transpose"([[V0]]) <{perm = [1, 0]}> : (tensor<?x4xf32>) -> tensor<4x?xf32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Transpose"([[V1]]) <{perm = [1, 0]}> : (tensor<4x?xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:   [[V3:%.+]] = "onnx.Cast"([[V2]]) <{saturate = 1 : si64, to = f64}> : (tensor<?x4xf32>) -> tensor<?x4xf64>
// CHECK-NEXT:   [[V4:%.+]] = "onnx.Cast"([[V3]]) <{saturate = 1 : si64, to = f32}> : (tensor<?x4xf64>) -> tensor<?x4xf32>
// CHECK-NEXT:   onnx.Return [[V4]] : tensor<?x4xf32>
// CHECK-NEXT:   }

// -----

func.func @results_nobody_wants(%x: tensor<1x2x3xf32>, %w: tensor<1x20x3xf32>, %r: tensor<1x20x5xf32>) -> tensor<1x2x5xf32> {
  %none = "onnx.NoValue"() <{value}> : () -> none
  %y, %h, %c = "onnx.LSTM"(%x, %w, %r, %none, %none, %none, %none, %none) {hidden_size = 5 : si64} : (tensor<1x2x3xf32>, tensor<1x20x3xf32>, tensor<1x20x5xf32>, none, none, none, none, none) -> (none, tensor<1x2x5xf32>, none)
  onnx.Return %h : tensor<1x2x5xf32>
}

// CHECK-LABEL: func.func @results_nobody_wants(%arg0: tensor<1x2x3xf32>, %arg1: tensor<1x20x3xf32>, %arg2: tensor<1x20x5xf32>) -> tensor<1x2x5xf32> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.NoValue"() <{value}> : () -> none
// CHECK-NEXT:   [[V1:%.+]]:3 = "onnx.LSTM"(%arg0, %arg1, %arg2, [[V0]], [[V0]], [[V0]], [[V0]], [[V0]]) <{direction = "forward", hidden_size = 5 : si64, input_forget = 0 : si64, layout = 0 : si64}> : (tensor<1x2x3xf32>, tensor<1x20x3xf32>, tensor<1x20x5xf32>, none, none, none, none, none) -> (none, tensor<1x2x5xf32>, none)
// CHECK-NEXT:   onnx.Return [[V1]]#1 : tensor<1x2x5xf32>
// CHECK-NEXT:   }

// -----

func.func @ops_of_older_versions(%x: tensor<2x1x3xf32>) -> tensor<2x3xf32> {
  %a = "onnx.SqueezeV11"(%x) {axes = [1]} : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %b = "onnx.ClipV6"(%a) {max = 6.0 : f32, min = 0.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "onnx.ReduceMeanV13"(%b) {axes = [1], keepdims = 1 : si64} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %d = "onnx.Sub"(%b, %c) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  onnx.Return %d : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @ops_of_older_versions(%arg0: tensor<2x1x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<1> : tensor<1xi64>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[V2:%.+]] = onnx.Constant dense<6.000000e+00> : tensor<f32>
// CHECK-NEXT:   [[V3:%.+]] = onnx.Constant dense<1> : tensor<1xi64>
// CHECK-NEXT:   [[V4:%.+]] = "onnx.Squeeze"(%arg0, [[V0]]) : (tensor<2x1x3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
// CHECK-NEXT:   [[V5:%.+]] = "onnx.Clip"([[V4]], [[V1]], [[V2]]) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT:   [[V6:%.+]] = "onnx.ReduceMean"([[V5]], [[V3]]) <{keepdims = 1 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
// CHECK-NEXT:   [[V7:%.+]] = "onnx.Sub"([[V5]], [[V6]]) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   onnx.Return [[V7]] : tensor<2x3xf32>
// CHECK-NEXT:   }

// -----

func.func @ops_with_one_output(%x: tensor<1x2x4x4xf32>, %s: tensor<2xf32>) -> tensor<1x2x2x2xf32> {
  %a = "onnx.BatchNormalizationInferenceMode"(%x, %s, %s, %s, %s) {epsilon = 0.01 : f32} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %b = "onnx.MaxPoolSingleOut"(%a) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  onnx.Return %b : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: func.func @ops_with_one_output(%arg0: tensor<1x2x4x4xf32>, %arg1: tensor<2xf32>) -> tensor<1x2x2x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.BatchNormalizationInferenceMode"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 0.00999999977 : f32, momentum = 0.899999976 : f32}> : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.MaxPoolSingleOut"([[V0]]) <{auto_pad = "NOTSET", ceil_mode = 0 : si64, kernel_shape = [2, 2], storage_order = 0 : si64, strides = [2, 2]}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<1x2x2x2xf32>
// CHECK-NEXT:   }

// -----

func.func @sequences_and_optionals(%x: tensor<2xf32>, %i: tensor<i64>) -> (tensor<*xf32>, !onnx.Opt<tensor<2xf32>>) {
  %a = "onnx.SequenceConstruct"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> !onnx.Seq<tensor<2xf32>>
  %b = "onnx.SequenceAt"(%a, %i) : (!onnx.Seq<tensor<2xf32>>, tensor<i64>) -> tensor<*xf32>
  %c = "onnx.Optional"(%x) : (tensor<2xf32>) -> !onnx.Opt<tensor<2xf32>>
  onnx.Return %b, %c : tensor<*xf32>, !onnx.Opt<tensor<2xf32>>
}

// CHECK-LABEL: func.func @sequences_and_optionals(%arg0: tensor<2xf32>, %arg1: tensor<i64>) -> (tensor<*xf32>, !onnx.Opt<tensor<2xf32>>) {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.SequenceConstruct"(%arg0, %arg0) : (tensor<2xf32>, tensor<2xf32>) -> !onnx.Seq<tensor<2xf32>>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.SequenceAt"([[V0]], %arg1) : (!onnx.Seq<tensor<2xf32>>, tensor<i64>) -> tensor<*xf32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Optional"(%arg0) : (tensor<2xf32>) -> !onnx.Opt<tensor<2xf32>>
// CHECK-NEXT:   onnx.Return [[V1]], [[V2]] : tensor<*xf32>, !onnx.Opt<tensor<2xf32>>
// CHECK-NEXT:   }

// -----

func.func @strings(%x: tensor<?x!onnx.String>) -> tensor<?x!onnx.String> {
  %y = "onnx.Identity"(%x) : (tensor<?x!onnx.String>) -> tensor<?x!onnx.String>
  return %y : tensor<?x!onnx.String>
}

// CHECK-LABEL: func.func @strings(%arg0: tensor<?x!onnx.String>) -> tensor<?x!onnx.String> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.Identity"(%arg0) : (tensor<?x!onnx.String>) -> tensor<?x!onnx.String>
// CHECK-NEXT:   return [[V0]] : tensor<?x!onnx.String>
// CHECK-NEXT:   }

// -----

"func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "generic_function"}> ({
^bb0(%x: tensor<2xf32>):
  %y = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  "func.return"(%y) : (tensor<2xf32>) -> ()
}) : () -> ()

// CHECK-LABEL: func.func @generic_function(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.Relu"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   return [[V0]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

#weights = dense<[1.0, 2.0]> : tensor<2xf32>
!row = tensor<2xf32>
func.func @aliases(%x: !row) -> !row {
  %a = onnx.Constant {value = #weights} : tensor<2xf32>
  %b = "onnx.Mul"(%x, %a) : (!row, tensor<2xf32>) -> !row
  onnx.Return %b : !row
}

// CHECK-LABEL: func.func @aliases(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"(%arg0, [[V0]]) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func private @only_declared(tensor<2xf32>, tensor<*xi64>) -> tensor<2xf32>

// CHECK-LABEL: func.func private @only_declared(tensor<2xf32>, tensor<*xi64>) -> tensor<2xf32>

// -----

func.func @a_resource() -> tensor<2xi32> {
  %a = onnx.Constant dense_resource<two> : tensor<2xi32>
  onnx.Return %a : tensor<2xi32>
}
{-#
  dialect_resources: {
    builtin: {
      two: "0x040000000100000002000000"
    }
  }
#-}

// CHECK-LABEL: func.func @a_resource() -> tensor<2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[1, 2]> : tensor<2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xi32>
// CHECK-NEXT:   }
