// The fields of this package's types, as the compiler sees them.
import { fileURLToPath } from "node:url";
import ts from "typescript";

export interface TypeFields {
  /** Fields of an exported type, sorted; optional ones end in "?". Of a union, a field that not every member has is optional. */
  of(name: string): string[];
  /** The same for each member of a union of events, by its `type`. */
  byEvent(union: string): Record<string, string[]>;
  /** Names of the exported interfaces and type aliases. */
  readonly names: string[];
}

/** Reads files given relative to the root. Types of libraries are not resolved: only names and optionality are read. */
export function typeFields(...files: string[]): TypeFields {
  const paths = files.map((file) => fileURLToPath(new URL(`../../${file}`, import.meta.url)));
  const program = ts.createProgram(paths, { noLib: true, types: [], strict: true, module: ts.ModuleKind.Node20 });
  const checker = program.getTypeChecker();
  const symbols = new Map<string, ts.Symbol>();
  for (const path of paths) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(path) as ts.SourceFile);
    for (const symbol of module === undefined ? [] : checker.getExportsOfModule(module))
      symbols.set(symbol.name, symbol);
  }
  const typeOf = (name: string): ts.Type => {
    const symbol = symbols.get(name);
    if (symbol === undefined) throw new Error(`${files.join(", ")} has no type ${name}`);
    return checker.getDeclaredTypeOfSymbol(symbol);
  };
  const fieldsOf = (type: ts.Type): string[] => {
    const members = type.isUnion() ? type.types : [type];
    const found = new Map<string, { count: number; optional: boolean }>();
    for (const property of members.flatMap((member) => checker.getPropertiesOfType(member))) {
      const { count = 0, optional = false } = found.get(property.name) ?? {};
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
      found.set(property.name, { count: count + 1, optional: optional || isOptional });
    }
    return [...found]
      .map(([name, { count, optional }]) => (optional || count < members.length ? `${name}?` : name))
      .toSorted();
  };
  return {
    of: (name) => fieldsOf(typeOf(name)),
    byEvent: (union) => {
      const type = typeOf(union);
      if (!type.isUnion()) throw new Error(`${union} is not a union`);
      return Object.fromEntries(
        type.types.map((member) => {
          const literal = checker.getTypeOfSymbol(checker.getPropertyOfType(member, "type") as ts.Symbol);
          return [(literal as ts.StringLiteralType).value, fieldsOf(member)];
        }),
      );
    },
    names: [...symbols]
      .filter(([, { flags }]) => (flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) !== 0)
      .map(([name]) => name),
  };
}
