import type { CsiDriverOptions, SimulatedCsiDriver } from "../../../src/testing";
import type { FakeRegistrar, FakeRegistrarOptions } from "../../simulator/fake-registrar";
import type { RunningKubelet } from "./tested-kubelet";

export interface Scenario {
  /** What kubelet does, as the rest of a sentence that "kubelet" begins. */
  readonly name: string;
  /** A call that is left without an answer, once, until kubelet gives it up. */
  readonly hangs?: "GetInfo" | "NotifyRegistrationStatus";
  /** Acts on the node, and waits for the last thing that kubelet does about it. */
  readonly script: (node: ScriptedNode) => Promise<void>;
}

/** A node with a running kubelet, real or simulated. What a script has started is ended after it. */
export interface ScriptedNode {
  /** A path in the plugin registration directory. */
  readonly at: (...names: readonly string[]) => string;
  /** A path beside it. */
  readonly elsewhere: (...names: readonly string[]) => string;
  /** Starts a CSI driver, x.csi unless told, at `elsewhere(name)`. */
  readonly driver: (options?: Partial<CsiDriverOptions>) => Promise<SimulatedCsiDriver>;
  /** Publishes a registration socket, in place of one that is there. */
  readonly registrar: (options?: ScriptedRegistrarOptions) => Promise<ScriptedRegistrar>;
  readonly refuse: RunningKubelet["refuse"];
  /** Kills kubelet and starts it anew. */
  readonly restart: () => Promise<void>;
  /** Acts in between. All that it leaves is dealt with at once, in kubelet's first round. */
  readonly whileDown: <Result>(act: () => Promise<Result>) => Promise<Result>;
  /** Resolves when kubelet's first attempt at this socket has failed. */
  readonly failed: (socketName: string) => Promise<void>;
  /** Resolves when kubelet has taken the driver (x.csi) off the node, as its socket (a.sock) went. */
  readonly deregistered: (driverName?: string, socketName?: string) => Promise<void>;
  /**
   * Resolves when kubelet has dealt with all that happened until now: another driver came and went, which takes two
   * rounds of its loop.
   */
  readonly settled: () => Promise<void>;
  /**
   * Resolves when a kubelet that tries again by itself has done so. Its wait of 500 ms may end with the second round of
   * `settled`, and what happens then would meet its try; two rounds later that is over.
   */
  readonly triedAgain: () => Promise<void>;
}

export interface ScriptedRegistrarOptions extends Pick<FakeRegistrarOptions, "before"> {
  /** Of its socket. @default "a.sock" */
  readonly name?: string;
  /** What it answers to GetInfo, otherwise what is right for x.csi. */
  readonly info?: FakeRegistrarOptions["info"];
}

export interface ScriptedRegistrar extends FakeRegistrar {
  /** Resolves when kubelet starts to register it. */
  readonly dialled: () => Promise<void>;
  /** Resolves when kubelet has registered it for the nth time, the first unless told. */
  readonly registered: (nth?: number) => Promise<void>;
  /** Resolves when kubelet's nth attempt to register it has failed, the first unless told. */
  readonly failed: (nth?: number) => Promise<void>;
}
