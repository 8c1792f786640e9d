// RUN: whorl opt --shape-inference --constprop-onnx --split-input-file %s | filecheck %s

func.func @integers_to_truth_and_back() -> tensor<4xi32> {
  %a = onnx.Constant dense<[-3, 0, 1, 5]> : tensor<4xi32>
  %b = "onnx.Cast"(%a) {to = i1} : (tensor<4xi32>) -> tensor<4xi1>
  %c = "onnx.Cast"(%b) {to = i32} : (tensor<4xi1>) -> tensor<4xi32>
  "onnx.Return"(%c) : (tensor<4xi32>) -> ()
}

// CHECK-LABEL: func.func @integers_to_truth_and_back() -> tensor<4xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[1, 0, 1, 1]> : tensor<4xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<4xi32>
// CHECK-NEXT:   }

// -----

func.func @i32_to_i64() -> tensor<3x2xi64> {
  %a = onnx.Constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %b = "onnx.Cast"(%a) {to = i64} : (tensor<3x2xi32>) -> tensor<3x2xi64>
  "onnx.Return"(%b) : (tensor<3x2xi64>) -> ()
}

// CHECK-LABEL: func.func @i32_to_i64() -> tensor<3x2xi64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xi64>
// CHECK-NEXT:   }

// -----

func.func @i64_to_i32() -> tensor<3x2xi32> {
  %a = onnx.Constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %b = "onnx.Cast"(%a) {to = i32} : (tensor<3x2xi64>) -> tensor<3x2xi32>
  "onnx.Return"(%b) : (tensor<3x2xi32>) -> ()
}

// CHECK-LABEL: func.func @i64_to_i32() -> tensor<3x2xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xi32>
// CHECK-NEXT:   }

// -----

func.func @i32_to_f32() -> tensor<3x2xf32> {
  %a = onnx.Constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %b = "onnx.Cast"(%a) {to = f32} : (tensor<3x2xi32>) -> tensor<3x2xf32>
  "onnx.Return"(%b) : (tensor<3x2xf32>) -> ()
}

// CHECK-LABEL: func.func @i32_to_f32() -> tensor<3x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func.func @i64_to_f32() -> tensor<3x2xf32> {
  %a = onnx.Constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %b = "onnx.Cast"(%a) {to = f32} : (tensor<3x2xi64>) -> tensor<3x2xf32>
  "onnx.Return"(%b) : (tensor<3x2xf32>) -> ()
}

// CHECK-LABEL: func.func @i64_to_f32() -> tensor<3x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func.func @f32_to_i64() -> tensor<3x2xi64> {
  %a = onnx.Constant dense<[[1.3, 2.6], [3.5, 4.5], [5.0, 6.0]]> : tensor<3x2xf32>
  %b = "onnx.Cast"(%a) {to = i64} : (tensor<3x2xf32>) -> tensor<3x2xi64>
  "onnx.Return"(%b) : (tensor<3x2xi64>) -> ()
}

// CHECK-LABEL: func.func @f32_to_i64() -> tensor<3x2xi64> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xi64>
// CHECK-NEXT:   }

// -----

func.func @f32_to_f16() -> tensor<3x2xf16> {
  %a = onnx.Constant dense<[[0.1, 2.6], [3.5, 1000.5], [70000.0, 6.0]]> : tensor<3x2xf32>
  %b = "onnx.Cast"(%a) {to = f16} : (tensor<3x2xf32>) -> tensor<3x2xf16>
  "onnx.Return"(%b) : (tensor<3x2xf16>) -> ()
}

// CHECK-LABEL: func.func @f32_to_f16() -> tensor<3x2xf16> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}9.997550e-02, 2.599610e+00], [3.500000e+00, 1.000500e+03], [0x7C00, 6.000000e+00]]> : tensor<3x2xf16>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xf16>
// CHECK-NEXT:   }

// -----

func.func @ui8_to_f32() -> tensor<3x2xf32> {
  %a = onnx.Constant dense<[[255, 2], [3, 4], [5, 6]]> : tensor<3x2xui8>
  %b = "onnx.Cast"(%a) {to = f32} : (tensor<3x2xui8>) -> tensor<3x2xf32>
  "onnx.Return"(%b) : (tensor<3x2xf32>) -> ()
}

// CHECK-LABEL: func.func @ui8_to_f32() -> tensor<3x2xf32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<{{\[\[}}2.550000e+02, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<3x2xf32>
// CHECK-NEXT:   }

// -----

func.func @floats_out_of_range_saturate() -> tensor<8xi32> {
  %a = onnx.Constant dense<[4.7, -4.7, -3.0e11, 3.0e11, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFFFFFFF]> : tensor<8xf32>
  %b = "onnx.Cast"(%a) {to = i32} : (tensor<8xf32>) -> tensor<8xi32>
  "onnx.Return"(%b) : (tensor<8xi32>) -> ()
}

// CHECK-LABEL: func.func @floats_out_of_range_saturate() -> tensor<8xi32> {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[4, -4, -2147483648, 2147483647, 2147483647, -2147483648, 0, 0]> : tensor<8xi32>
// CHECK-NEXT:   onnx.Return [[V0]] : tensor<8xi32>
// CHECK-NEXT:   }

// -----

func.func @f32_to_f8E4M3FN() -> (tensor<12xf8E4M3FN>, tensor<12xf8E4M3FN>) {
  %a = onnx.Constant dense<[0.0, -0.0, 300.0, -300.0, 448.0, -448.0, 900.0, -900.0, 0x7F800000, 0xFF800000, 0x7F800001, 0xFF800001]> : tensor<12xf32>
  %b = "onnx.Cast"(%a) {saturate = 0 : si64, to = f8E4M3FN} : (tensor<12xf32>) -> tensor<12xf8E4M3FN>
  %c = "onnx.Cast"(%a) {to = f8E4M3FN, saturate = 1 : si64} : (tensor<12xf32>) -> tensor<12xf8E4M3FN>
  onnx.Return %b, %c : tensor<12xf8E4M3FN>, tensor<12xf8E4M3FN>
}

// CHECK-LABEL: func.func @f32_to_f8E4M3FN() -> (tensor<12xf8E4M3FN>, tensor<12xf8E4M3FN>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[0.000000e+00, -0.000000e+00, 2.880000e+02, -2.880000e+02, 4.480000e+02, -4.480000e+02, 0x7F, 0xFF, 0x7F, 0xFF, 0x7F, 0xFF]> : tensor<12xf8E4M3FN>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<[0.000000e+00, -0.000000e+00, 2.880000e+02, -2.880000e+02, 4.480000e+02, -4.480000e+02, 4.480000e+02, -4.480000e+02, 4.480000e+02, -4.480000e+02, 0x7F, 0xFF]> : tensor<12xf8E4M3FN>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<12xf8E4M3FN>, tensor<12xf8E4M3FN>
// CHECK-NEXT:   }

// -----

func.func @f32_to_f8E4M3FNUZ() -> (tensor<12xf8E4M3FNUZ>, tensor<12xf8E4M3FNUZ>) {
  %a = onnx.Constant dense<[0.0, -0.0, 150.0, -150.0, 240.0, -240.0, 500.0, -500.0, 0x7F800000, 0xFF800000, 0x7F800001, 0xFF800001]> : tensor<12xf32>
  %b = "onnx.Cast"(%a) {saturate = 0 : si64, to = f8E4M3FNUZ} : (tensor<12xf32>) -> tensor<12xf8E4M3FNUZ>
  %c = "onnx.Cast"(%a) {to = f8E4M3FNUZ, saturate = 1 : si64} : (tensor<12xf32>) -> tensor<12xf8E4M3FNUZ>
  onnx.Return %b, %c : tensor<12xf8E4M3FNUZ>, tensor<12xf8E4M3FNUZ>
}

// CHECK-LABEL: func.func @f32_to_f8E4M3FNUZ() -> (tensor<12xf8E4M3FNUZ>, tensor<12xf8E4M3FNUZ>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[0.000000e+00, 0.000000e+00, 1.440000e+02, -1.440000e+02, 2.400000e+02, -2.400000e+02, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]> : tensor<12xf8E4M3FNUZ>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<[0.000000e+00, 0.000000e+00, 1.440000e+02, -1.440000e+02, 2.400000e+02, -2.400000e+02, 2.400000e+02, -2.400000e+02, 2.400000e+02, -2.400000e+02, 0x80, 0x80]> : tensor<12xf8E4M3FNUZ>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<12xf8E4M3FNUZ>, tensor<12xf8E4M3FNUZ>
// CHECK-NEXT:   }

// -----

func.func @f32_to_f8E5M2() -> (tensor<12xf8E5M2>, tensor<12xf8E5M2>) {
  %a = onnx.Constant dense<[0.0, -0.0, 30000.0, -30000.0, 57344.0, -57344.0, 90000.0, -90000.0, 0x7F800000, 0xFF800000, 0x7F800001, 0xFF800001]> : tensor<12xf32>
  %b = "onnx.Cast"(%a) {saturate = 0 : si64, to = f8E5M2} : (tensor<12xf32>) -> tensor<12xf8E5M2>
  %c = "onnx.Cast"(%a) {to = f8E5M2, saturate = 1 : si64} : (tensor<12xf32>) -> tensor<12xf8E5M2>
  onnx.Return %b, %c : tensor<12xf8E5M2>, tensor<12xf8E5M2>
}

// CHECK-LABEL: func.func @f32_to_f8E5M2() -> (tensor<12xf8E5M2>, tensor<12xf8E5M2>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[0.000000e+00, -0.000000e+00, 2.867200e+04, -2.867200e+04, 5.734400e+04, -5.734400e+04, 0x7C, 0xFC, 0x7C, 0xFC, 0x7E, 0xFE]> : tensor<12xf8E5M2>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<[0.000000e+00, -0.000000e+00, 2.867200e+04, -2.867200e+04, 5.734400e+04, -5.734400e+04, 5.734400e+04, -5.734400e+04, 5.734400e+04, -5.734400e+04, 0x7E, 0xFE]> : tensor<12xf8E5M2>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<12xf8E5M2>, tensor<12xf8E5M2>
// CHECK-NEXT:   }

// -----

func.func @f32_to_f8E5M2FNUZ() -> (tensor<12xf8E5M2FNUZ>, tensor<12xf8E5M2FNUZ>) {
  %a = onnx.Constant dense<[0.0, -0.0, 30000.0, -30000.0, 57344.0, -57344.0, 90000.0, -90000.0, 0x7F800000, 0xFF800000, 0x7F800001, 0xFF800001]> : tensor<12xf32>
  %b = "onnx.Cast"(%a) {saturate = 0 : si64, to = f8E5M2FNUZ} : (tensor<12xf32>) -> tensor<12xf8E5M2FNUZ>
  %c = "onnx.Cast"(%a) {to = f8E5M2FNUZ, saturate = 1 : si64} : (tensor<12xf32>) -> tensor<12xf8E5M2FNUZ>
  onnx.Return %b, %c : tensor<12xf8E5M2FNUZ>, tensor<12xf8E5M2FNUZ>
}

// CHECK-LABEL: func.func @f32_to_f8E5M2FNUZ() -> (tensor<12xf8E5M2FNUZ>, tensor<12xf8E5M2FNUZ>) {
// CHECK-NEXT:   [[V0:%.+]] = onnx.Constant dense<[0.000000e+00, 0.000000e+00, 2.867200e+04, -2.867200e+04, 5.734400e+04, -5.734400e+04, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]> : tensor<12xf8E5M2FNUZ>
// CHECK-NEXT:   [[V1:%.+]] = onnx.Constant dense<[0.000000e+00, 0.000000e+00, 2.867200e+04, -2.867200e+04, 5.734400e+04, -5.734400e+04, 5.734400e+04, -5.734400e+04, 5.734400e+04, -5.734400e+04, 0x80, 0x80]> : tensor<12xf8E5M2FNUZ>
// CHECK-NEXT:   onnx.Return [[V0]], [[V1]] : tensor<12xf8E5M2FNUZ>, tensor<12xf8E5M2FNUZ>
// CHECK-NEXT:   }
