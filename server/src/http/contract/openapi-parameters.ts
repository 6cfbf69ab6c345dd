import type { Parameter, PublishedOperation, Reference } from './openapi-types.ts'

type Paths = Record<string, Record<string, PublishedOperation>>

/** Writes each part of a path once that means the same in several operations, under its name. */
export function shareParameters(paths: Paths): { operations: Paths; parameters: Record<string, Parameter> } {
  const uses = new Map<string, { parameter: Parameter; count: number }>()
  for (const parameter of Object.values(paths).flatMap(Object.values).flatMap(pathParameters)) {
    const use = uses.get(JSON.stringify(parameter)) ?? { parameter, count: 0 }
    uses.set(JSON.stringify(parameter), { parameter, count: use.count + 1 })
  }
  const shared = new Map<string, { text: string; parameter: Parameter }>()
  for (const [text, { parameter, count }] of [...uses].sort(([, a], [, b]) => b.count - a.count)) {
    const name = `${parameter.name[0]?.toUpperCase()}${parameter.name.slice(1)}`
    if (count > 1 && !shared.has(name)) shared.set(name, { text, parameter })
  }
  const names = new Map([...shared].map(([name, { text }]) => [text, name]))
  return { operations: referAll(paths, names), parameters: inOrder(shared) }
}

const pathParameters = ({ parameters = [] }: PublishedOperation): Parameter[] =>
  parameters.filter((one): one is Parameter => 'in' in one && one.in === 'path')

function referAll(paths: Paths, names: Map<string, string>): Paths {
  const refer = (parameter: Parameter | Reference) => {
    const name = names.get(JSON.stringify(parameter))
    return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
  }
  const items = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, operation]) => {
      const { parameters } = operation
      return [method, parameters === undefined ? operation : { ...operation, parameters: parameters.map(refer) }]
    })
    return [path, Object.fromEntries(operations)]
  })
  return Object.fromEntries(items)
}

const inOrder = (shared: Map<string, { parameter: Parameter }>): Record<string, Parameter> =>
  Object.fromEntries([...shared].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { parameter }]) => [name, parameter]))
