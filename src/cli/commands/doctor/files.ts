import { invalidOption } from "../../../base/errors";
import { type Finding, findingsOf, unread } from "../../../doctor/findings/finding";
import { type Report, reportOf } from "../../../doctor/findings/report";
import type { TableLook } from "../../../doctor/findings/table";
import { MANIFEST_CHECKS, manifestReadable } from "../../../doctor/manifest/judge/checks";
import { findingsOfSwap, readSwap } from "../../../doctor/manifest/judge/swap";
import { type ManifestFacts, readDeployments } from "../../../doctor/manifest/read/deployments";
import { lastPart, type OurImage } from "../../../doctor/manifest/read/program";
import { renderFileTable } from "../../../doctor/manifest/tell/table";
import { plain, quoteText } from "../../../logging/escape";
import { version } from "../../process/version";
import { readFiles } from "./read-files";

function noRegistrar(image: string | undefined): string {
  const fix =
    image === undefined
      ? "; if one is this registrar's, name its image with --image=IMAGE"
      : `, nor the image ${quoteText(image)} without another command`;
  return `no registrar in these files: no container has its arguments or its image${fix}`;
}

interface FileFlags {
  readonly file: readonly string[];
  readonly image?: string | undefined;
}

/** Judges the objects in files; reads nothing else of this machine. */
export async function reportOnFiles({ file: files, image }: FileFlags): Promise<Report> {
  const facts = (await readerOf(files))({ image, version });
  return reportOf({ files }, findingsOf(MANIFEST_CHECKS, facts));
}

/** A report on what the swap of the official registrar's image changes. */
interface SwapReport extends Report {
  readonly target: {
    readonly files: readonly string[];
    readonly swap: string;
    readonly swapped: number;
    /** The command whose policy swaps the images that `--image` names; null without it. */
    readonly policy: string | null;
  };
}

/**
 * `swap` is the image that takes the official one's place; empty: any of ours. `image` names another image whose place it takes,
 * as the policy's `--match-image` does.
 */
export async function reportOnSwap({
  file: files,
  image,
  swap,
}: FileFlags & { readonly swap: string }): Promise<SwapReport> {
  const both = readSwap(await readerOf(files), { image, version }, swap);
  const policy =
    image === undefined || both.swapped === 0
      ? null
      : `registrar manifest --image-policy --image=${swap || "IMAGE"} --match-image=${lastPart(image)}`;
  const target = { files, swap, swapped: both.swapped, policy };
  const nothing = both.swapped === 0 ? [nothingToSwap({ file: files, image }, both.before)] : [];
  return { ...reportOf(target, [...findingsOfSwap(both), ...nothing]), target };
}

function nothingToSwap({ file: files, image }: FileFlags, facts: ManifestFacts): Finding {
  const { code, name } = manifestReadable;
  return {
    code,
    check: name,
    ...unread(files.join(", "), `has nothing to swap: ${whyNothing(facts, image)}`),
  };
}

function whyNothing({ deployments, unread: [unread] }: ManifestFacts, image: string | undefined): string {
  const unknown = deployments.find(({ program }) => program.kind === "unknown");
  if (unknown?.program.kind === "unknown") return `${unknown.place}: ${unknown.program.why}`;
  if (deployments.some(({ program }) => program.kind === "official"))
    return "the official registrars in these files are for Windows nodes, where this registrar does not run";
  if (unread !== undefined) return `${unread.place} cannot be judged: ${unread.why}`;
  if (deployments.length === 0) return noRegistrar(image);
  return "the registrars in these files are this one already";
}

/** What the swap changes, as a table for people, and how much that is. */
export function renderSwapTable(report: SwapReport, look: TableLook): string {
  const { findings, target } = report;
  const registrars = target.swapped === 1 ? "1 registrar" : `${target.swapped} registrars`;
  const what = `${registrars} swapped${target.swap && ` to ${plain(target.swap)}`}`;
  const next = target.policy === null ? "" : `To swap them in a cluster: ${target.policy}\n`;
  if (findings.length === 0) return `${what}: that adds no problem.\n${next}`;
  return renderFileTable(report, look, `${what}. `) + next;
}

/** The files are read once; they may be judged twice. Throws INVALID_OPTION for files without a registrar. */
async function readerOf(files: readonly string[]): Promise<(ours: OurImage) => ManifestFacts> {
  const { objects, unread } = await readFiles(files);
  const [first] = unread;
  if (objects.length === 0 && first)
    throw invalidOption(
      `cannot read ${[`${first.place}: ${first.why}`, first.advice].filter(Boolean).join("; ")}`,
    );
  return (ours) => {
    const read = readDeployments(objects, ours);
    const facts = { ...read, unread: [...unread, ...read.unread] };
    const { deployments, csiDriverSpecs, pods } = facts;
    // A CSIDriver alone can be judged; pods without a registrar are not what was meant.
    const isJudged = deployments.length > 0 || (csiDriverSpecs.length > 0 && pods.length === 0);
    if (!isJudged && facts.unread.length === 0) throw invalidOption(noRegistrar(ours.image));
    return facts;
  };
}
