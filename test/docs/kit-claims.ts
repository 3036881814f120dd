import { packages } from "../../package-lock.json";
import { readText } from "./markdown";
import { FAILURE, found, IMAGE_NODE, KUBE, NODES, OLDEST_NODE, REGISTRATION_API } from "./sources";

const PROJECTS = readText("test/projects/projects.test.ts");
const toolOf = (name: string) => `${name} ${found(new RegExp(`"${name}@(\\d+)"`), PROJECTS)}`;
/** The Node lines on which the tests' projects run. */
const LINES = found(/for \(const line of \[(.*?)\]\)/, PROJECTS).replaceAll('"', "");
const JEST = packages["node_modules/jest"].version.split(".")[0];
/** `await using`: in TypeScript, and in Node. */
const USING = { typescript: "TypeScript 5.2", node: "Node 24" };
/** Tried by hand. */
const BY_HAND = { mocha: "mocha 12 | by hand, Node 20.20; with `--timeout 10000`", bun: "by hand, Bun 1.4" };

/** What the pages on the library and on tests say with numbers. */
export const KIT: Readonly<Record<string, readonly string[]>> = {
  "docs/library.md": [
    "Five minutes",
    `Node ${NODES}; macOS`,
    "in milliseconds since 1970.",
    `Kubelets up to ${KUBE.driverPath[0]} send`,
    `kubelet ${KUBE.draPods} and newer`,
    "(`maxSurge: 1`)",
    `Kubelets up to ${KUBE.draPods} register`,
    "`v1.DRAPlugin` or `v1beta1.DRAPlugin` of a DRA driver",
    "`v1.DRAResourceHealth` or `v1alpha1.DRAResourceHealth`:",
    `kubelet ${KUBE.picksHealth[1]} calls the newest one in the list, ${KUBE.picksHealth[0]} \`v1alpha1\` of`,
    '`["v1beta1"]`',
  ],
  "docs/testing.md": [
    "`graceMs: 0`",
    `| node:test | Node ${OLDEST_NODE} to ${IMAGE_NODE} | ${USING.node}, or ${USING.typescript} |`,
    `| jest ${JEST} | our own tests | ${USING.typescript} |`,
    `| ${toolOf("jest")} | Node ${LINES} |`,
    `| ${toolOf("vitest")}, each pool | Node ${LINES} |`,
    `| ${BY_HAND.mocha},`,
    `| ${BY_HAND.bun} |`,
    `from 1.${REGISTRATION_API} on`,
    `Kubelets up to ${KUBE.gogo} accept`,
    "with exit code 0, or",
    `minutes) with ${FAILURE}.`,
    "timeout-minutes: 10",
    `node-version: "${IMAGE_NODE}"`,
    "--timeout=60s",
  ],
};
