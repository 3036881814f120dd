import { allowedNames, parseNameLists, whyUnwanted } from "../../../src/registrar/node-wide/name-lists";

const A = "a.csi.example.com";
const at = (folder: string) => `/plugins/${folder}/csi.sock`;
const NOT_ALLOWED = "it is not among those allowed";
const ELSEWHERE = "its name is allowed at another path only";

test.each<[string, string, string | undefined]>([
  [A, at("other"), undefined],
  ["b.csi", at(A), NOT_ALLOWED],
  [`${A}=${at(A)}`, at(A), undefined],
  [`${A}=${at(A)}`, at("other"), ELSEWHERE],
  [`${A}=${at(A)}`, `${at(A)}/more`, ELSEWHERE],
  [`${A}=/plugins/*/csi.sock`, at("other"), undefined],
  [`${A}=/plugins/${A}*/csi.sock`, at(`${A}-v2`), undefined],
  [`b.csi=${at(A)}`, at(A), NOT_ALLOWED],
  ["*=/plugins/*/csi.sock", at(A), undefined],
  ["*=/plugins/*/csi.sock", at("other"), NOT_ALLOWED],
  ["*=/plugins/*/csi.sock", `/plugins/${A}/more/csi.sock`, NOT_ALLOWED],
  ["*=/plugins/csi-*/csi.sock", at(`csi-${A}`), undefined],
])("allowed %s, %s", (entry, path, because) => {
  expect(whyUnwanted(A, path, parseNameLists({ allow: [entry] }))).toBe(because);
});

test("one fitting entry allows a driver, and a denied name is denied at every path", () => {
  const allow = [`${A}=${at("x")}`, `${A}=${at("y")}`, "b.csi"];
  expect(whyUnwanted(A, at("y"), parseNameLists({ allow }))).toBeUndefined();
  expect(whyUnwanted(A, at("z"), parseNameLists({ allow }))).toBe(ELSEWHERE);
  expect(whyUnwanted(A, at("y"), parseNameLists({ allow, deny: [A] }))).toBe("it is among those denied");
  expect(whyUnwanted(A, at("y"), parseNameLists({ deny: ["b.csi"] }))).toBeUndefined();
});

test.each([
  ...["=/p/*/s", "*", "*=/p/*/*/s", "*=/p/s", "*.csi", "=x", "a=", "a=p/s"].map((entry): [object, string] => [
    { allow: [entry] },
    `allowed driver "${entry}": give NAME, NAME=/path, or *=/path with one '*'`,
  ]),
  [{ allow: ["a/b"] }, `allowed driver "a/b": no driver of this name is registered: it contains '/'`],
  [{ allow: ["a=/p/**/s"] }, `allowed driver "/p/**/s": a segment can have one '*' only`],
  [{ allow: ["a=/p/../s"] }, "no empty, '.' or '..' segment"],
  [{ deny: ["a=/p/s"] }, `denied driver "a=/p/s": a name is denied at every path, give it alone`],
  [{ deny: ["a="] }, `denied driver "a=": a name is denied at every path, give it alone`],
])("%j is refused", (lists, text) => {
  expect(() => parseNameLists(lists)).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(text) }),
  );
});

test.each([
  [{}, undefined],
  [{ allow: ["a"] }, ["a"]],
  [{ allow: ["a", "b=/p/*/s", "b=/q/s", "c"], deny: ["c"] }, ["a", "b"]],
  [{ allow: ["a", "*=/p/*/s"] }, undefined],
])("the names that %j can register, one by one", (lists, names) => {
  expect(allowedNames(parseNameLists(lists))).toEqual(names);
});
