// `node escapes.mjs TSCONFIG FOLDER...` prints `FILE:LINE: CODE` for each place where something unread passes for an absent, an
// empty or a well one, and TypeScript does not see it. A program of its own, because TypeScript's API is an ES module.
import { relative } from "node:path";
import * as ast from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

const [, , config, ...folders] = process.argv;
const api = new API();
const [{ program, checker }] = api.updateSnapshot({ openProjects: [config] }).getProjects();
const K = ast.SyntaxKind;

/** Of these types each value is truthy, and equal to nothing: they are asked by their methods, or for their kind. */
const ASKED = ["Truth", "SeenList", "Unread", "Withheld", "Looked"];
/** Only readers and reports have the items of a list. */
const OPENERS = ["itemsOf", "saidIn"];
/** Array methods that take any value for an answer. */
const TAKES_ALL = /^(?:some|every|filter|find|findIndex|findLast|findLastIndex)$/;
const EQUAL = [K.EqualsEqualsToken, K.EqualsEqualsEqualsToken];
const UNEQUAL = [K.ExclamationEqualsToken, K.ExclamationEqualsEqualsToken];
const LOGICAL = [K.AmpersandAmpersandToken, K.BarBarToken, K.QuestionQuestionToken];

const bare = (node) =>
  node && (ast.isParenthesizedExpression(node) || ast.isNonNullExpression(node) || ast.isAsExpression(node))
    ? bare(node.expression)
    : node;
const typesOf = (node) => {
  const type = checker.getTypeAtLocation(node);
  try {
    return type?.isUnionType() ? type.getTypes() : type ? [type] : [];
  } catch {
    // TypeScript 7.0 fails for a union with a tuple in it.
    return [];
  }
};
const namesOf = (node) =>
  typesOf(node).map((type) => (type.getAliasSymbol() ?? type.getSymbol())?.name ?? "");
const isAsked = (node) => namesOf(bare(node)).some((name) => ASKED.includes(name));
const isNone = (node) => ["undefined", "null", "false", "[]", "{}", '""'].includes(bare(node).getText());
/** An optional property may be compared with undefined: that says whether the question was asked. */
const mayBeUndefined = (node) =>
  typesOf(node).some((type) => type.isIntrinsicType() && type.intrinsicName === "undefined");

/** Whether this is the kind of something that may be unread. */
const isOpen = (node) =>
  typesOf(node).some((type) => type.isStringLiteralType() && type.value === "unread") &&
  typesOf(node).length > 1;
/** The first question to such a kind, before any other: is it unread? Then TypeScript knows it. */
function asksFirst(kind) {
  const { parent } = kind;
  if (!ast.isBinaryExpression(parent) || ![...EQUAL, ...UNEQUAL].includes(parent.operatorToken.kind))
    return false;
  const to = bare(parent.right);
  if (!ast.isStringLiteral(to)) return false;
  const isEqual = EQUAL.includes(parent.operatorToken.kind);
  if (to.text === "seen") return isEqual || isGuard(parent);
  if (to.text !== "unread") return false;
  const choice = parent.parent;
  if (!ast.isConditionalExpression(choice) || choice.condition !== parent) return true;
  return !isNone(isEqual ? choice.whenTrue : choice.whenFalse) || isReturned(choice);
}
/** Whether this goes into the report as it is. */
function isReturned({ parent }) {
  if (ast.isReturnStatement(parent) || ast.isArrowFunction(parent)) return true;
  return (
    (ast.isParenthesizedExpression(parent) ||
      ast.isSpreadElement(parent) ||
      ast.isArrayLiteralExpression(parent)) &&
    isReturned(parent)
  );
}

/** Whether a negated answer only keeps something from being said: `if (a === undefined || b) return undefined`. */
function isGuard(node) {
  const { parent } = node;
  if (ast.isParenthesizedExpression(parent)) return isGuard(parent);
  if (ast.isBinaryExpression(parent) && LOGICAL.includes(parent.operatorToken.kind)) return isGuard(parent);
  if (ast.isConditionalExpression(parent)) return parent.condition === node && isNone(parent.whenTrue);
  if (!ast.isIfStatement(parent) || parent.elseStatement !== undefined) return false;
  const then = parent.thenStatement;
  return ast.isReturnStatement(then) && (then.expression === undefined || isNone(then.expression));
}

function isEscape(node) {
  if (ast.isPrefixUnaryExpression(node)) return node.operator === K.ExclamationToken && isAsked(node.operand);
  if (ast.isConditionalExpression(node)) return isAsked(node.condition);
  if (ast.isIfStatement(node) || ast.isWhileStatement(node) || ast.isDoStatement(node))
    return isAsked(node.expression);
  if (ast.isBinaryExpression(node)) {
    const kind = node.operatorToken.kind;
    if (kind === K.InKeyword) return isAsked(node.right);
    const mayLack = (one) => mayBeUndefined(bare(one)) && !namesOf(bare(one)).includes("Withheld");
    if (LOGICAL.includes(kind))
      return isAsked(node.left) && !(kind === K.QuestionQuestionToken && mayLack(node.left));
    return (
      [...EQUAL, ...UNEQUAL].includes(kind) &&
      [node.left, node.right].some((one) => isAsked(one) && !mayLack(one))
    );
  }
  if (ast.isBindingElement(node))
    return (node.propertyName ?? node.name)?.getText() === "kind" && isOpen(node.name);
  if (ast.isPropertyAccessExpression(node))
    return node.name.text === "kind" && isOpen(node) && !asksFirst(node);
  if (ast.isCallExpression(node))
    return node.arguments.some(
      (one) => isAsked(one) && (!isTaken(one) || node.expression.getText() === "Boolean"),
    );
  if (ast.isArrowFunction(node) && ast.isCallExpression(node.parent)) {
    const callee = bare(node.parent.expression);
    const method = ast.isPropertyAccessExpression(callee) ? callee.name.text : "";
    return (
      method !== "" && !isAsked(callee.expression) && TAKES_ALL.test(method) && returnsOf(node).some(isAsked)
    );
  }
  if (ast.isSpreadAssignment(node) || ast.isSpreadElement(node)) return isAsked(node.expression);
  return ast.isForOfStatement(node) && isAsked(node.expression);
}

/** Whether a function knows what it is given: an argument of any type may be anything to it. */
function isTaken(argument) {
  const type = checker.getContextualType(argument);
  return type !== undefined && !(type.isIntrinsicType?.() && ["unknown", "any"].includes(type.intrinsicName));
}

function returnsOf(arrow) {
  if (!ast.isBlock(arrow.body)) return [arrow.body];
  const found = [];
  const visit = (node) => {
    if (ast.isReturnStatement(node) && node.expression) found.push(node.expression);
    else if (!ast.isArrowFunction(node)) node.forEachChild(visit);
  };
  arrow.body.forEachChild(visit);
  return found;
}

const lines = [];
for (const name of program
  .getSourceFileNames()
  .filter((file) => folders.some((folder) => file.startsWith(folder)))) {
  const file = program.getSourceFile(name);
  const say = (at, what) => {
    const line = file.text.slice(0, at).split("\n").length;
    lines.push(`${relative(process.cwd(), name)}:${line}: ${what}`);
  };
  // A reader makes the gap.
  const isReader = /\/read\//.test(name);
  const isJudge = /\/judge\//.test(name);
  const visit = (node) => {
    const isKind = isReader && (ast.isBindingElement(node) || ast.isPropertyAccessExpression(node));
    const isOpened =
      isJudge && ast.isIdentifier(node) && OPENERS.includes(node.text) && !ast.isImportSpecifier(node.parent);
    if (isOpened || (!isKind && isEscape(node)))
      say(node.getStart(file), node.getText(file).replace(/\s+/g, " ").slice(0, 120));
    node.forEachChild(visit);
  };
  if (!name.endsWith("findings/seen.ts")) file.forEachChild(visit);
  for (const { pos, text } of program.getSemanticDiagnostics(name)) say(pos, text);
}
api.close();
process.stdout.write(lines.map((line) => `${line}\n`).join(""));
