import { type Plugin, parseAst, type Rolldown } from 'vite'

type Context = Pick<Rolldown.PluginContext, 'getModuleInfo' | 'resolve'>

/** An import or re-export of a module. */
interface ImportRecord {
  from: string
  /** Names in the other module; null for all. */
  names: readonly string[] | null
  /** Local names, in the same order. */
  here: readonly string[]
}

interface ModuleShape {
  imports: readonly ImportRecord[]
  /** For modules that only re-export: the exported names by local names; otherwise null. */
  reexports: ReadonlyMap<string, string> | null
}

/**
 * Finds which of the given pages import each module statically, so that what two of them share is one chunk, and
 * neither loads the other's. For a library's index, counts importers of each name, since the index itself imports
 * everything.
 */
export function sharedChunks(pages: Record<string, readonly string[]>): {
  plugin: Plugin
  pagesOf(id: string): readonly string[]
} {
  const found = new Map<string, string[]>()
  const plugin: Plugin = {
    name: 'day-sections',
    apply: 'build',
    async buildEnd(error) {
      if (error !== undefined) return
      const shapes = new Map<string, ModuleShape>()
      const all = [...this.getModuleIds()]
      for (const [page, sources] of Object.entries(pages)) {
        const begins = all.filter((id) => sources.some((source) => id.endsWith(`/web/src/${source}`)))
        if (begins.length !== sources.length) throw new Error(`Not all of these are there: ${sources.join(', ')}`)
        for (const id of await importedBy(this, begins, shapes)) found.set(id, [...(found.get(id) ?? []), page])
      }
    },
  }
  return { plugin, pagesOf: (id) => found.get(id) ?? [] }
}

/** Returns modules with all their transitive imports. */
async function importedBy(
  context: Context,
  begins: readonly string[],
  shapes: Map<string, ModuleShape>,
): Promise<Set<string>> {
  const imported = new Set<string>()
  const seen = new Set<string>()
  const open: { id: string; names: ImportRecord['names'] }[] = begins.map((id) => ({ id, names: null }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { id, names } = next
    const key = `${names?.join() ?? '*'} of ${id}`
    if (imported.has(id) || seen.has(key)) continue
    seen.add(key)
    const shape = shapes.get(id) ?? shapeOf(id, context.getModuleInfo(id)?.code ?? '')
    shapes.set(id, shape)
    const requested = names === null ? null : importsFor(shape, names)
    if (requested === null) imported.add(id)
    for (const importRecord of requested ?? shape.imports) {
      const to = await context.resolve(importRecord.from, id)
      if (to !== null && !to.external) open.push({ id: to.id, names: importRecord.names })
    }
  }
  return imported
}

/** Returns what an index imports for some names; `export *` may provide any of them. Null for other modules. */
function importsFor({ imports, reexports }: ModuleShape, names: readonly string[]): ImportRecord[] | null {
  if (reexports === null) return null
  const requested = names.map((name) => reexports.get(name) ?? name)
  const named = imports.flatMap((one) => {
    const importedNames = one.names?.filter((_, n) => requested.includes(one.here[n] ?? ''))
    return importedNames === undefined || importedNames.length === 0 ? [] : [{ ...one, names: importedNames }]
  })
  const rest = requested.filter((name) => !imports.some(({ here }) => here.includes(name)))
  const whole = imports.filter((one) => one.names === null && one.here.length === 0)
  return rest.length === 0 ? named : [...named, ...whole.map((one) => ({ ...one, names: rest }))]
}

function shapeOf(id: string, code: string): ModuleShape {
  const reexported = new Map<string, string>()
  const imports: ImportRecord[] = []
  let isIndex = id.includes('/node_modules/')
  for (const node of parseAst(code).body) {
    if (node.type === 'ImportDeclaration') {
      const names = node.specifiers.map((one) =>
        one.type === 'ImportSpecifier' ? nameOf(one.imported) : one.type === 'ImportDefaultSpecifier' ? 'default' : '*',
      )
      const here = node.specifiers.map(({ local }) => local.name)
      imports.push({ from: node.source.value, names: names.length === 0 || names.includes('*') ? null : names, here })
    } else if (node.type === 'ExportAllDeclaration') {
      imports.push({
        from: node.source.value,
        names: null,
        here: node.exported === null ? [] : [nameOf(node.exported)],
      })
    } else if (node.type === 'ExportNamedDeclaration' && node.declaration === null) {
      const pairs = node.specifiers.map(({ local, exported }) => [nameOf(local), nameOf(exported)] as const)
      if (node.source !== null) {
        imports.push({
          from: node.source.value,
          names: pairs.map(([importedNames]) => importedNames),
          here: pairs.map(([, here]) => here),
        })
      } else for (const [local, exported] of pairs) reexported.set(exported, local)
    } else if (node.type !== 'ExpressionStatement' || !('directive' in node)) isIndex = false
  }
  return { imports, reexports: isIndex ? reexported : null }
}

const nameOf = (node: { name: string } | { value: string }): string => ('name' in node ? node.name : node.value)
