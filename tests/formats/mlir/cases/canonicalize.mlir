// RUN: whorl opt --shape-inference --canonicalize --split-input-file %s | filecheck %s

func.func @transposes_that_undo_each_other(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = "onnx.Transpose"(%x) {perm = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %b = "onnx.Transpose"(%a) {perm = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  onnx.Return %b : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @transposes_that_undo_each_other(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:   onnx.Return %arg0 : tensor<2x3xf32>
// CHECK-NEXT:   }

// -----

func.func @what_nobody_reads(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = "onnx.Exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %b : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @what_nobody_reads(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.Relu"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x3xf32>
// CHECK-NEXT:   }

// -----

func.func @identities(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = "onnx.Identity"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "onnx.Cast"(%a) {to = f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "onnx.Neg"(%b) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %c : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @identities(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.Neg"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x3xf32>
// CHECK-NEXT:   }

// -----

func.func @equal_nodes(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = "onnx.Exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %b = "onnx.Exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %c = "onnx.Mul"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %c : tensor<2xf32>
}

// CHECK-LABEL: func.func @equal_nodes(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = "onnx.Exp"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Mul"([[V0]], [[V0]]) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<2xf32>
// CHECK-NEXT:   }

// -----

func.func @shapes_then_constants(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %s = "onnx.Shape"(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
  %m = onnx.Constant dense<-1> : tensor<1xi64>
  %r = "onnx.Reshape"(%x, %m) {allowzero = 0 : si64} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
  onnx.Return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @shapes_then_constants(%arg0: tensor<2x3xf32>) -> tensor<6xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<-1> : tensor<1xi64>
// CHECK-NEXT:   [[V1:%.+]] = "onnx.Reshape"(%arg0, [[V0]]) <{allowzero = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
// CHECK-NEXT:   onnx.Return [[V1]] : tensor<6xf32>
// CHECK-NEXT:   }
