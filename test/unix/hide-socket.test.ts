import fs, { readdirSync } from "node:fs";
import { systemError } from "../../src/base/errors";
import { eachTest } from "../support/each-test";
import { createOwnedSocket } from "../support/owned-socket";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);

test("a socket that could not be hidden at first is hidden by the next call", async () => {
  await using socket = createOwnedSocket();
  await socket.publish(folder.at("x"));
  jest.spyOn(fs, "unlinkSync").mockImplementationOnce(() => {
    throw systemError("EIO");
  });
  await expect(socket.hide()).rejects.toMatchObject({ code: "EIO" });
  await socket.hide();
  expect(readdirSync(folder.path)).not.toContain("x");
});
