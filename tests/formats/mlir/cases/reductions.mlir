// RUN: whorl opt --shape-inference --constprop-onnx --split-input-file %s | filecheck %s

func.func @reducesum_of_an_axis() -> tensor<2x1xi32> {
  %a = "onnx.Constant"() {value = dense<[[3, 4], [5, 8]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %x = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %r = "onnx.ReduceSum"(%a, %x) : (tensor<2x2xi32>, tensor<i64>) -> tensor<2x1xi32>
  "onnx.Return"(%r) : (tensor<2x1xi32>) -> ()
}

// CHECK-LABEL: func.func @reducesum_of_an_axis() -> tensor<2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}7], [13]]> : tensor<2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1xi32>
// CHECK-NEXT:   }

// -----

func.func @reducesum_of_floats() -> tensor<1x2xf32> {
  %a = "onnx.Constant"() {value = dense<[[1.5, 2.0], [4.0, 6.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %x = "onnx.Constant"() {value = dense<[0]> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.ReduceSum"(%a, %x) : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
  "onnx.Return"(%r) : (tensor<1x2xf32>) -> ()
}

// CHECK-LABEL: func.func @reducesum_of_floats() -> tensor<1x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}5.500000e+00, 8.000000e+00]]> : tensor<1x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x2xf32>
// CHECK-NEXT:   }

// -----

func.func @reduceprod_of_an_axis() -> tensor<2x1xi32> {
  %a = "onnx.Constant"() {value = dense<[[3, 4], [5, 8]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %x = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %r = "onnx.ReduceProd"(%a, %x) : (tensor<2x2xi32>, tensor<i64>) -> tensor<2x1xi32>
  "onnx.Return"(%r) : (tensor<2x1xi32>) -> ()
}

// CHECK-LABEL: func.func @reduceprod_of_an_axis() -> tensor<2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}12], [40]]> : tensor<2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1xi32>
// CHECK-NEXT:   }

// -----

func.func @reduceprod_of_floats() -> tensor<1x2xf32> {
  %a = "onnx.Constant"() {value = dense<[[1.5, 2.0], [4.0, 6.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %x = "onnx.Constant"() {value = dense<[0]> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.ReduceProd"(%a, %x) : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
  "onnx.Return"(%r) : (tensor<1x2xf32>) -> ()
}

// CHECK-LABEL: func.func @reduceprod_of_floats() -> tensor<1x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}6.000000e+00, 1.200000e+01]]> : tensor<1x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x2xf32>
// CHECK-NEXT:   }

// -----

func.func @reducemin_of_an_axis() -> tensor<2x1xi32> {
  %a = "onnx.Constant"() {value = dense<[[3, 4], [5, 8]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %x = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %r = "onnx.ReduceMin"(%a, %x) : (tensor<2x2xi32>, tensor<i64>) -> tensor<2x1xi32>
  "onnx.Return"(%r) : (tensor<2x1xi32>) -> ()
}

// CHECK-LABEL: func.func @reducemin_of_an_axis() -> tensor<2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3], [5]]> : tensor<2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1xi32>
// CHECK-NEXT:   }

// -----

func.func @reducemin_of_floats() -> tensor<1x2xf32> {
  %a = "onnx.Constant"() {value = dense<[[1.5, 2.0], [4.0, 6.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %x = "onnx.Constant"() {value = dense<[0]> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.ReduceMin"(%a, %x) : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
  "onnx.Return"(%r) : (tensor<1x2xf32>) -> ()
}

// CHECK-LABEL: func.func @reducemin_of_floats() -> tensor<1x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.500000e+00, 2.000000e+00]]> : tensor<1x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x2xf32>
// CHECK-NEXT:   }

// -----

func.func @reducemax_of_an_axis() -> tensor<2x1xi32> {
  %a = "onnx.Constant"() {value = dense<[[3, 4], [5, 8]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %x = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %r = "onnx.ReduceMax"(%a, %x) : (tensor<2x2xi32>, tensor<i64>) -> tensor<2x1xi32>
  "onnx.Return"(%r) : (tensor<2x1xi32>) -> ()
}

// CHECK-LABEL: func.func @reducemax_of_an_axis() -> tensor<2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}4], [8]]> : tensor<2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1xi32>
// CHECK-NEXT:   }

// -----

func.func @reducemax_of_floats() -> tensor<1x2xf32> {
  %a = "onnx.Constant"() {value = dense<[[1.5, 2.0], [4.0, 6.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %x = "onnx.Constant"() {value = dense<[0]> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.ReduceMax"(%a, %x) : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
  "onnx.Return"(%r) : (tensor<1x2xf32>) -> ()
}

// CHECK-LABEL: func.func @reducemax_of_floats() -> tensor<1x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}4.000000e+00, 6.000000e+00]]> : tensor<1x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x2xf32>
// CHECK-NEXT:   }

// -----

func.func @reducemean_of_an_axis() -> tensor<2x1xi32> {
  %a = "onnx.Constant"() {value = dense<[[3, 4], [5, 8]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %x = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %r = "onnx.ReduceMean"(%a, %x) : (tensor<2x2xi32>, tensor<i64>) -> tensor<2x1xi32>
  "onnx.Return"(%r) : (tensor<2x1xi32>) -> ()
}

// CHECK-LABEL: func.func @reducemean_of_an_axis() -> tensor<2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3], [6]]> : tensor<2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1xi32>
// CHECK-NEXT:   }

// -----

func.func @reducemean_of_floats() -> tensor<1x2xf32> {
  %a = "onnx.Constant"() {value = dense<[[1.5, 2.0], [4.0, 6.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %x = "onnx.Constant"() {value = dense<[0]> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.ReduceMean"(%a, %x) : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
  "onnx.Return"(%r) : (tensor<1x2xf32>) -> ()
}

// CHECK-LABEL: func.func @reducemean_of_floats() -> tensor<1x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}2.750000e+00, 4.000000e+00]]> : tensor<1x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x2xf32>
// CHECK-NEXT:   }

// -----

func.func @reducesum_negative_axis() -> tensor<1x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[3, 4], [5, 8]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %x = "onnx.Constant"() {value = dense<[-2]> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.ReduceSum"(%a, %x) : (tensor<2x2xi32>, tensor<1xi64>) -> tensor<1x2xi32>
  "onnx.Return"(%r) : (tensor<1x2xi32>) -> ()
}

// CHECK-LABEL: func.func @reducesum_negative_axis() -> tensor<1x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}8, 12]]> : tensor<1x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x2xi32>
// CHECK-NEXT:   }

// -----

func.func @reducesum_all_axes() -> tensor<1x1xi32> {
  %a = "onnx.Constant"() {value = dense<[[3, 4], [5, 8]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %x = "onnx.Constant"() {value = dense<[0, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %r = "onnx.ReduceSum"(%a, %x) : (tensor<2x2xi32>, tensor<2xi64>) -> tensor<1x1xi32>
  "onnx.Return"(%r) : (tensor<1x1xi32>) -> ()
}

// CHECK-LABEL: func.func @reducesum_all_axes() -> tensor<1x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<20> : tensor<1x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x1xi32>
// CHECK-NEXT:   }

// -----

func.func @reducesum_without_the_axis() -> tensor<2xi32> {
  %a = "onnx.Constant"() {value = dense<[[3, 4], [5, 8]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %x = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %r = "onnx.ReduceSum"(%a, %x) {keepdims = 0 : si64} : (tensor<2x2xi32>, tensor<i64>) -> tensor<2xi32>
  "onnx.Return"(%r) : (tensor<2xi32>) -> ()
}

// CHECK-LABEL: func.func @reducesum_without_the_axis() -> tensor<2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[7, 13]> : tensor<2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2xi32>
// CHECK-NEXT:   }

// -----

func.func @reducesum_no_axes() -> tensor<1x1xi32> {
  %a = "onnx.Constant"() {value = dense<[[3, 4], [5, 8]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ReduceSum"(%a, %none) : (tensor<2x2xi32>, none) -> tensor<1x1xi32>
  "onnx.Return"(%r) : (tensor<1x1xi32>) -> ()
}

// CHECK-LABEL: func.func @reducesum_no_axes() -> tensor<1x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<20> : tensor<1x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x1xi32>
// CHECK-NEXT:   }

// -----

func.func @reducesum_no_axes_no_operation() -> tensor<2x2xi32> {
  %a = "onnx.Constant"() {value = dense<[[3, 4], [5, 8]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ReduceSum"(%a, %none) {noop_with_empty_axes = 1 : si64} : (tensor<2x2xi32>, none) -> tensor<2x2xi32>
  "onnx.Return"(%r) : (tensor<2x2xi32>) -> ()
}

// CHECK-LABEL: func.func @reducesum_no_axes_no_operation() -> tensor<2x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}3, 4], [5, 8]]> : tensor<2x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x2xi32>
// CHECK-NEXT:   }

// -----

func.func @reducesum_of_nothing() -> tensor<1x1xi32> {
  %a = "onnx.Constant"() {value = dense<> : tensor<0x2xi32>} : () -> tensor<0x2xi32>
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ReduceSum"(%a, %none) : (tensor<0x2xi32>, none) -> tensor<1x1xi32>
  "onnx.Return"(%r) : (tensor<1x1xi32>) -> ()
}

// CHECK-LABEL: func.func @reducesum_of_nothing() -> tensor<1x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<0> : tensor<1x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x1xi32>
// CHECK-NEXT:   }

// -----

func.func @reduceprod_of_nothing() -> tensor<1x1xf32> {
  %a = "onnx.Constant"() {value = dense<> : tensor<0x2xf32>} : () -> tensor<0x2xf32>
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ReduceProd"(%a, %none) : (tensor<0x2xf32>, none) -> tensor<1x1xf32>
  "onnx.Return"(%r) : (tensor<1x1xf32>) -> ()
}

// CHECK-LABEL: func.func @reduceprod_of_nothing() -> tensor<1x1xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<1x1xf32>
// CHECK-NEXT:   }

// -----

func.func @reducesum_of_a_scalar() -> tensor<i32> {
  %a = "onnx.Constant"() {value = dense<77> : tensor<i32>} : () -> tensor<i32>
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ReduceSum"(%a, %none) : (tensor<i32>, none) -> tensor<i32>
  "onnx.Return"(%r) : (tensor<i32>) -> ()
}

// CHECK-LABEL: func.func @reducesum_of_a_scalar() -> tensor<i32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<77> : tensor<i32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<i32>
// CHECK-NEXT:   }

// -----

func.func @reducesum_of_version_11() -> tensor<2x1xi32> {
  %a = "onnx.Constant"() {value = dense<[[3, 4], [5, 8]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %r = "onnx.ReduceSumV11"(%a) {axes = [1]} : (tensor<2x2xi32>) -> tensor<2x1xi32>
  onnx.Return %r : tensor<2x1xi32>
}

// CHECK-LABEL: func.func @reducesum_of_version_11() -> tensor<2x1xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}7], [13]]> : tensor<2x1xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<2x1xi32>
// CHECK-NEXT:   }
