// Which function a judge calls: one of its own file, or of another judge.
import { dirname, isAbsolute, resolve } from "node:path";
import * as ast from "typescript/unstable/ast";

export const moduleOf = (file, { text }) =>
  text.startsWith(".") || isAbsolute(text) ? resolve(dirname(file), text).replace(/\.[jt]s$/, "") : text;
export const bare = (node) =>
  node && (ast.isParenthesizedExpression(node) || ast.isNonNullExpression(node) || ast.isAsExpression(node))
    ? bare(node.expression)
    : node;
export const isFunction = (node) => ast.isArrowFunction(node) || ast.isFunctionDeclaration(node);
export const isOfJudges = (name) => /\/judge\//.test(name);
const fileOf = (node) => (ast.isSourceFile(node) ? node.fileName : fileOf(node.parent));

export function createFunctions(program) {
  /** The functions of each file, by their names there: its own, and those of other judges. */
  const functions = new Map();
  function functionsIn(name) {
    const known = functions.get(name) ?? new Map();
    if (functions.has(name)) return known;
    functions.set(name, known);
    const note = (own, ...more) => known.set(own, [...(known.get(own) ?? []), ...more]);
    const importedFrom = (declaration) => {
      const from = `${moduleOf(name, declaration.moduleSpecifier)}.ts`;
      return isOfJudges(from) ? functionsIn(from) : new Map();
    };
    const noteIn = (node) => {
      const own = ast.isVariableDeclaration(node) ? bare(node.initializer) : node;
      const isNamed = own !== undefined && node.name !== undefined;
      if (isNamed && isFunction(own)) note(node.name.getText(), own);
      if (isNamed && ast.isObjectLiteralExpression(own))
        for (const one of own.properties.filter(ast.isPropertyAssignment))
          if (isFunction(bare(one.initializer)))
            note(`${node.name.getText()}.${one.name.getText()}`, bare(one.initializer));
      if (ast.isImportSpecifier(node)) {
        const its = importedFrom(node.parent.parent.parent);
        note(node.name.getText(), ...(its.get((node.propertyName ?? node.name).getText()) ?? []));
      }
      if (ast.isNamespaceImport(node))
        for (const [one, its] of importedFrom(node.parent.parent))
          note(`${node.name.getText()}.${one}`, ...its);
      node.forEachChild(noteIn);
    };
    program.getSourceFile(name)?.forEachChild(noteIn);
    return known;
  }
  return (node) => functionsIn(fileOf(node)).get(node.getText()) ?? [];
}
