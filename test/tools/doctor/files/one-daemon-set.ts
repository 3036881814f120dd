import { MANIFEST_CHECKS } from "../../../../src/tools/doctor/files/judge/checks";
import { readRegistrars } from "../../../../src/tools/doctor/files/read/registrars";
import { judgeSwap, readSwap } from "../../../../src/tools/doctor/files/swap";
import type { Finding } from "../../../../src/tools/doctor/findings/finding";
import { itemsOf } from "../../../../src/tools/doctor/findings/opened";
import { findingsOf } from "../../../../src/tools/doctor/findings/report";
import { startReading } from "../../../../src/tools/doctor/findings/seen";
import { inWholeWords } from "../findings/whole-words";

export const PATH = "/var/lib/kubelet/plugins/x.csi";
const REGISTRY = "/var/lib/kubelet/plugins_registry";
export const TOLD = `--kubelet-registration-path=${PATH}/csi.sock`;
export const OFFICIAL = "x/csi-node-driver-registrar:v2.17.0";
export const WINDOWS = { pod: { nodeSelector: { "kubernetes.io/os": "windows" } } };
export const limits = (values: object) => ({ resources: { limits: values } });

/** A value of some field that makes a problem or a warning there. */
export const BAD = [
  "x",
  "/elsewhere",
  7,
  9809,
  0,
  "Always",
  "windows",
  "/registration",
  "File",
  "HTTPS",
  true,
  "30Mi",
  "ns",
  "kubernetes.io/arch",
];

export interface Changes {
  readonly name?: string;
  /** The container's name. */
  readonly container?: string;
  /** Arguments behind the registrar's own; YAML may have numbers there. */
  readonly more?: readonly unknown[];
  /** Fields of the pod, and of the DaemonSet's spec. */
  readonly pod?: object;
  readonly spec?: object;
  readonly plugin?: object;
  readonly registry?: string;
  /** Any other field is one of the registrar's container. */
  readonly [field: string]: unknown;
}

export function daemonSet(changes: Changes = {}) {
  const { name = "x", container = "registrar", more = [], pod, spec, plugin, registry, ...fields } = changes;
  const registrar = {
    name: container,
    image: "registrar:v1",
    args: ["--csi-address=/csi/csi.sock", TOLD, ...more],
    volumeMounts: [
      { name: "plugin", mountPath: "/csi" },
      { name: "registration", mountPath: "/registration" },
    ],
    ...fields,
  };
  const volumes = [
    { name: "plugin", ...(plugin ?? { hostPath: { path: PATH } }) },
    { name: "registration", hostPath: { path: registry ?? REGISTRY } },
  ];
  const template = { spec: { containers: [registrar, { name: "driver" }], volumes, ...pod } };
  return {
    kind: "DaemonSet",
    metadata: { name, namespace: "ns" },
    spec: { selector: {}, template, ...spec },
  };
}

/** Objects as they are read from a file. */
export const readAs = (file: string, objects: readonly object[]) => ({
  objects: startReading<"files">().list(objects.map((object) => ({ file, object }))),
  gaps: [],
});

/** All findings in these objects. */
export const verdictsIn = (objects: readonly object[]): readonly Finding[] =>
  inWholeWords(findingsOf(MANIFEST_CHECKS, readRegistrars(readAs("a.yaml", objects))));

/** The same, except those with status ok. */
export const findingsIn = (objects: readonly object[]): readonly Finding[] =>
  verdictsIn(objects).filter(({ status }) => status !== "ok");

const bothIn = (objects: readonly object[]) =>
  readSwap((ours) => readRegistrars(readAs("a.yaml", objects), ours), {});

export const swapIn = (objects: readonly object[]) => judgeSwap(bothIn(objects), MANIFEST_CHECKS);

/** All findings once the official image is swapped in these objects. Undefined: none is. */
export function verdictsAfterSwapOf(objects: readonly object[]) {
  const { swapped, after } = bothIn(objects);
  return itemsOf(swapped).length === 0 ? undefined : findingsOf(MANIFEST_CHECKS, after);
}

/** What a swap of the official image changes in these objects. */
export function findingsOfSwapIn(objects: readonly object[]): readonly Finding[] {
  const { findings, swapped } = swapIn(objects);
  return swapped === 0 ? [] : findings;
}

export const said = (...objects: readonly object[]): readonly string[] =>
  findingsIn(objects).map(
    ({ code, status, text, fix, command }) =>
      `${code} ${status}: ${text} -> ${[fix, command ?? []].flat().join(": ")}`,
  );

/** The findings in a changed DaemonSet. */
export const saidOf = (changes: Changes): readonly string[] => said(daemonSet(changes));

/**
 * Expects a finding for each pattern, in this order, and no others. The whole lines are recorded: `npx jest -u FILE` writes them
 * anew after a change that is meant.
 */
export function expectSaid(lines: readonly string[], patterns: readonly (RegExp | string)[]): void {
  expect(lines).toEqual(patterns.map((pattern) => expect.stringMatching(new RegExp(pattern))));
  if (lines.length > 0) expect(lines.join("\n")).toMatchSnapshot();
}
