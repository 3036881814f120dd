import { readRegistrars } from "../../../../src/tools/doctor/files/read/registrars";
import { itemsOf, trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { leavesIn, replaceAt } from "../../../support/places";
import { otherFactsIn } from "../findings/less-known";
import { daemonSet, readAs } from "./one-daemon-set";
import { full, limitRange, official, ofWindows, rich, sidecar } from "./worlds";

// Facts of objects of which less is known are a part of the facts of each object that they may be.

const readAll = (...objects: readonly object[]) => readRegistrars(readAs("a.yaml", objects));
const factsOf = (object: unknown) => {
  const { gaps, ...facts } = readAll(object as object);
  return facts;
};
const NOT_YET = ["unknown", "programs", "settings", "isNamed", "socket", "limitRanges"];

test.each(["{{ .Values.x }}", `\${X}`, "$(X)"])("a placeholder %s makes no other fact", (placeholder) => {
  const wrong = new Map<string, string>();
  for (const whole of [rich, sidecar, official, full, ...ofWindows, limitRange]) {
    const more = factsOf(whole);
    for (const path of leavesIn(whole)) {
      const less = factsOf(replaceAt(whole, path, placeholder));
      for (const one of otherFactsIn(less, more, { asWritten: NOT_YET })) wrong.set(one, path.join("."));
    }
  }
  expect([...wrong].map(([one, path]) => `${path}: ${one}`)).toEqual([]);
});

test.each([
  ["x", true],
  ["{{ .Release.Name }}-node", null],
])("whether two objects called %s have one name: %s", (name, expected) => {
  const both = [{ ...daemonSet({ name }) }, { ...daemonSet({ name }) }];
  const limits = both.map(({ metadata }) => ({ ...limitRange, metadata }));
  const { registrars, limitRanges } = readAll(...both, ...limits);
  const places = registrars.grouped(({ place }) => place).map(({ others }) => others.contains());
  const names = limitRanges.grouped((one) => one.name).map(({ others }) => others.contains());
  expect(new Set([...itemsOf(places), ...itemsOf(names)].map(trueOrNull))).toEqual(new Set([expected]));
});
