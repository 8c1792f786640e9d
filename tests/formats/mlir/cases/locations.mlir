// RUN: whorl opt --shape-inference --constprop-onnx --mlir-print-debuginfo --split-input-file %s | filecheck %s

func.func @sum_keeps_its_place(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32> loc("weights")
  %1 = "onnx.Add"(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("shift")
  onnx.Return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @sum_keeps_its_place
// CHECK-NEXT: [[C:%.+]] = onnx.Constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> loc([[WEIGHTS:#.+]])
// CHECK-NEXT: [[S:%.+]] = "onnx.Add"(%arg0, [[C]]) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc([[SHIFT:#.+]])
// CHECK-DAG: [[WEIGHTS]] = loc("weights")
// CHECK-DAG: [[SHIFT]] = loc("shift")

// -----

func.func @product_keeps_its_place(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32> loc("weights")
  %1 = "onnx.Mul"(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("scale")
  onnx.Return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @product_keeps_its_place
// CHECK-NEXT: [[C:%.+]] = onnx.Constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> loc([[WEIGHTS:#.+]])
// CHECK-NEXT: [[S:%.+]] = "onnx.Mul"(%arg0, [[C]]) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc([[SCALE:#.+]])
// CHECK-DAG: [[WEIGHTS]] = loc("weights")
// CHECK-DAG: [[SCALE]] = loc("scale")

// -----

#loc3 = loc("model.onnx":7:1)
func.func @aliases_and_places_in_the_file(%x: tensor<2xf32> loc("in")) -> tensor<2xf32> {
  %0 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc(#loc3)
  %1 = "onnx.Neg"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @aliases_and_places_in_the_file
// CHECK-SAME: (%arg0: tensor<2xf32> loc([[IN:#.+]])) -> tensor<2xf32> {
// CHECK-NEXT: "onnx.Relu"(%arg0) : (tensor<2xf32>) -> tensor<2xf32> loc([[RELU:#.+]])
// CHECK-NEXT: "onnx.Neg"({{%.+}}) : (tensor<2xf32>) -> tensor<2xf32> loc([[NEG:#.+]])
// CHECK-DAG: [[IN]] = loc("in")
// CHECK-DAG: [[RELU]] = loc("model.onnx":7:1)
// CHECK-DAG: [[NEG]] = loc("locations.mlir":34:8)
