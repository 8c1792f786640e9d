// RUN: whorl opt --decompose-onnx --constprop-onnx --split-input-file %s | filecheck %s

func.func @declared_types_stay(%x: tensor<*xf32>) -> tensor<*xf32> {
  %a = onnx.Constant dense<2.0> : tensor<4xf32>
  %b = onnx.Constant dense<3.0> : tensor<4xf32>
  %c = "onnx.Mul"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  %d = "onnx.Add"(%c, %x) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %e = "onnx.Relu"(%d) : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %e : tensor<*xf32>
}

// CHECK-LABEL: func.func @declared_types_stay(%arg0: tensor<*xf32>) -> tensor<*xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<6.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Add"(%arg0, [[V0]]) : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
// CHECK-NEXT:   [[V2:%.+]] = "onnx.Relu"([[V1]]) : (tensor<*xf32>) -> tensor<*xf32>
// CHECK-NEXT:   onnx.Return [[V2]] : tensor<*xf32>
// CHECK-NEXT:   }

// -----

func.func @results_of_folding_have_their_own_type() -> tensor<*xi64> {
  %a = onnx.Constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %b = "onnx.Transpose"(%a) : (tensor<2x2xi64>) -> tensor<*xi64>
  onnx.Return %b : tensor<*xi64>
}

// CHECK-LABEL: func.func @results_of_folding_have_their_own_type() -> tensor<*xi64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1, 3], [2, 4]]> : tensor<2x2xi64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi64>
// CHECK-NEXT:   }

// -----

func.func @split_without_lengths() -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %a = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %p, %q = "onnx.Split"(%a, %none) {axis = 0 : si64} : (tensor<2x2xf32>, none) -> (tensor<1x2xf32>, tensor<1x2xf32>)
  "onnx.Return"(%p, %q) : (tensor<1x2xf32>, tensor<1x2xf32>) -> ()
}

// CHECK-LABEL: func.func @split_without_lengths() -> (tensor<1x2xf32>, tensor<1x2xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<{{\[\[}}3.000000e+00, 4.000000e+00]]> : tensor<1x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<1x2xf32>, tensor<1x2xf32>
// CHECK-NEXT:   }

// -----

func.func @split_of_version_11() -> (tensor<2x1xf32>, tensor<2x1xf32>) {
  %a = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %p, %q = "onnx.SplitV11"(%a) {axis = 1 : si64} : (tensor<2x2xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>)
  "onnx.Return"(%p, %q) : (tensor<2x1xf32>, tensor<2x1xf32>) -> ()
}

// CHECK-LABEL: func.func @split_of_version_11() -> (tensor<2x1xf32>, tensor<2x1xf32>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00], [3.000000e+00]]> : tensor<2x1xf32>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<{{\[\[}}2.000000e+00], [4.000000e+00]]> : tensor<2x1xf32>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<2x1xf32>, tensor<2x1xf32>
// CHECK-NEXT:   }

// -----

func.func @attributes_nobody_knows_stay(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = "onnx.Relu"(%x) {custom.flag, custom.value = [1, "a"], onnx_node_name = "r"} : (tensor<?xf32>) -> tensor<?xf32>
  onnx.Return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @attributes_nobody_knows_stay(%arg0: tensor<?xf32>) -> tensor<?xf32> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.Relu"(%arg0) {custom.flag, custom.value = [1, "a"], onnx_node_name = "r"} : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<?xf32>
// CHECK-NEXT:   }
