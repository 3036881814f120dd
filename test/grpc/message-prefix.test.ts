import { withMessagePrefix } from "../../src/grpc/message-prefix";

test("a message gets its length before it", () => {
  expect(withMessagePrefix(Buffer.from("abc")).toString("hex")).toBe("0000000003616263");
});
