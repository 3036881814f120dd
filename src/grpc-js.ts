/**
 * `registrar/grpc`: grpc-js as this package uses it, in the version that it was tested with. Its names change with grpc-js'
 * versions, not with ours; types that proto-loader generates find it with `--grpcLib=registrar/grpc`.
 */
export * from "@grpc/grpc-js";
