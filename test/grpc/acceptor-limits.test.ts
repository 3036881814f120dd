import { DEFAULT_GRPC_ACCEPTOR_LIMITS, resolveGrpcAcceptorLimits } from "../../src/grpc/acceptor-limits";

test("the defaults, and what is given instead of them", () => {
  expect(resolveGrpcAcceptorLimits()).toEqual(DEFAULT_GRPC_ACCEPTOR_LIMITS);
  expect(resolveGrpcAcceptorLimits({ maxConnections: 1 })).toEqual({
    ...DEFAULT_GRPC_ACCEPTOR_LIMITS,
    maxConnections: 1,
  });
});

test("the highest that Node takes", () => {
  const highest = { maxHeaderBytes: 65_535, maxHeaderFields: 128, maxMessageBytes: 2 ** 31 - 1 };
  expect(resolveGrpcAcceptorLimits(highest)).toMatchObject(highest);
});

test.each([
  [{ maxConnections: 0 }, "maxConnections is 0, but must be 1 to 65536"],
  [{ maxConcurrentStreams: 1.5 }, "maxConcurrentStreams is 1.5, but must be 1 to 65536"],
  [{ maxHeaderBytes: 65_536 }, "maxHeaderBytes is 65536, but must be 1 to 65535"],
  [{ maxHeaderFields: 129 }, "maxHeaderFields is 129, but must be 1 to 128"],
  [{ maxMessageBytes: Number.NaN }, "maxMessageBytes is NaN, but must be 1 to 2147483647"],
])("%j is refused", (given, message) => {
  expect(() => resolveGrpcAcceptorLimits(given)).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message }),
  );
});
