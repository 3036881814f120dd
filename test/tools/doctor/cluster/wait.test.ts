import { withAnswer } from "./replay";

test("--wait ends where only rights are missing", async () => {
  const { code, text } = await withAnswer(
    "csinodes",
    403,
    { message: "no" },
    "--driver=shares.csi.example.com",
    "--wait=5m",
  );
  expect(text).toMatch(/^Not everything could be read: 0 problems, /m);
  expect(code).toBe(3);
});
