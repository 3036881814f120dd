import type { Logger } from "../../../src/logging/logger";
import { createCsiNodeStore } from "../../../src/node-readiness/csi-node";
import type { Keeper } from "../../../src/node-readiness/keeper";
import { createKnownNode } from "../../../src/node-readiness/known-node";
import {
  type CsiNodeView,
  done,
  type NodeAnswer,
  type NodeApi,
  type NodeView,
} from "../../../src/node-readiness/node-api";
import type { ObservedRegistration } from "../../../src/node-readiness/observed-registrations";
import { recordLog } from "../../support/recorded-log";
import { csiNodeOf, DRIVER, registrationIn } from "./controlled-registrations";

/** A keeper at a time that a test moves, beside a Node and a CSINode that the test writes. */
export function createKeeperPlay<Status>(make: (log: Logger) => Keeper<Status>, api: object = {}) {
  const log = recordLog();
  const keeper = make(log.logger);
  const node = createKnownNode(api as NodeApi, () => {});
  const csiNode = createCsiNodeStore();
  const { signal } = new AbortController();
  const play = {
    ...{ log, csiNode },
    /** What the watch tells. */
    see: (seen: NodeView | undefined) => node.hear({ kind: "watched", node: seen }),
    get node() {
      return node.now;
    },
    now: 1_000_000,
    registrations: [registrationIn("registered")] as readonly ObservedRegistration[],
    /** What the API server answers to the question for CSINode, and how often it was asked. */
    answer: done(csiNodeOf([DRIVER])) as NodeAnswer<CsiNodeView>,
    reads: 0,
    lists: (...names: readonly string[]) => {
      play.answer = done(csiNodeOf(names));
    },
    status: () => keeper.status(play.registrations, node.now, csiNode),
    /** The wait until the next pass, or why this one failed. */
    pass: async (registrations?: readonly ObservedRegistration[]) => {
      csiNode.seeNode(node.now);
      const getCsiNode = async () => {
        play.reads += 1;
        return play.answer;
      };
      const readCsiNode = () => csiNode.read({ getCsiNode }, signal);
      const pass = { node, csiNode, now: play.now, readCsiNode, signal };
      const answer = await keeper.pass(registrations ?? play.registrations, pass);
      return answer.kind === "done" ? answer.value : answer;
    },
  };
  return play;
}
