import { boundText, boundTexts } from "../../src/logging/escape";

test("a long text is cut to its bound, and a second bound changes nothing", () => {
  const cut = boundText("x".repeat(100), 40);
  expect(cut).toBe(`${"x".repeat(11)} [cut, 100 characters in all]`);
  expect(boundText(cut, 40)).toBe(cut);
  expect(boundText("x".repeat(40), 40)).toBe("x".repeat(40));
});

test("each text of a value is cut, names of fields too", () => {
  const [long, cut] = ["y".repeat(41), boundText("y".repeat(41), 40)];
  const value = { text: long, list: [long, 1], map: { [long]: "z" }, none: null, flag: true };
  expect(boundTexts(value, 40)).toEqual({
    text: cut,
    list: [cut, 1],
    map: { [cut]: "z" },
    none: null,
    flag: true,
  });
});
