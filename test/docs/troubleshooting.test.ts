import { KUBELET_ROOTS } from "../../src/host-path/kubelet-roots";
import { hintForRefusal } from "../../src/registrar/registration/hints";
import { codeIn, codeOf, readText, rowsIn, SOURCE, sectionOf } from "./markdown";

const page = readText("docs/troubleshooting.md");
/** What the first cells of a section's tables quote. */
const quotedUnder = (heading: string) =>
  rowsIn(sectionOf(page, heading)).flatMap(([message = ""]) => codeIn(message));

test.each(quotedUnder("Log messages"))("the source says: %s", (message) => {
  for (const piece of message.split("…")) expect(SOURCE).toContain(piece.trim());
});

test.each(quotedUnder("Why kubelet refuses a driver"))("there is a hint for: %s", (text) => {
  expect(hintForRefusal(text, "/csi.sock")).toBeDefined();
});

test("the root directories are those of the hints", () => {
  const rows = rowsIn(sectionOf(page, "Kubelet's root directory is elsewhere"));
  const folders = rows.map(([, folder]) => codeOf(folder));
  expect(folders).toEqual(expect.arrayContaining(Object.values(KUBELET_ROOTS)));
});

test("each state of a driver that is not registered has its next step", () => {
  const states = quotedUnder("A pod waits: driver name not found").filter((code) => /^[a-z]+$/.test(code));
  expect(states).toEqual(["waiting", "publishing", "listening", "asked", "refused", "standby", "registered"]);
});
