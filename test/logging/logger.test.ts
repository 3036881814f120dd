import { createLogger, type LogSink } from "../../src/logging/logger";

test.each([undefined, () => {}, { write: () => {} }, { enabled: true, write: () => {} }])(
  "createLogger refuses %p, which is no sink",
  (sink) => {
    expect(() => createLogger(sink as unknown as LogSink)).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: expect.stringContaining("has no function"),
      }),
    );
  },
);
