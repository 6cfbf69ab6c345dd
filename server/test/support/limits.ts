/** JSON schema of a route. */
export type Schema = Record<string, unknown>

/** Yields each part of a route's schema without a size limit, one line each. */
export function* findUnlimited(schema: unknown, at: string): Generator<string> {
  if (typeof schema !== 'object' || schema === null) return
  const own = schema as Schema
  const missing = limitsOf(own).filter((keyword) => own[keyword] === undefined)
  if (missing.length > 0) yield `${at} has no ${missing.join(' and no ')}`
  for (const [name, inner] of innerSchemas(own)) yield* findUnlimited(inner, `${at}${name}`)
}

/** Yields every schema within a schema, including itself. */
export function* schemasWithin(schema: unknown): Generator<Schema> {
  if (typeof schema !== 'object' || schema === null) return
  yield schema as Schema
  for (const [, inner] of innerSchemas(schema as Schema)) yield* schemasWithin(inner)
}

function limitsOf(schema: Schema): string[] {
  if (schema.enum !== undefined || schema.const !== undefined) return []
  const limits: Record<string, string[]> = {
    string: ['maxLength'],
    number: ['minimum', 'maximum'],
    integer: ['minimum', 'maximum'],
    array: ['maxItems'],
  }
  return [schema.type].flat().flatMap((type) => limits[String(type)] ?? [])
}

function innerSchemas(schema: Schema): [name: string, inner: unknown][] {
  const maps = ['properties', 'patternProperties', 'content'].flatMap((keyword) =>
    Object.entries((schema[keyword] ?? {}) as Schema).map(([name, inner]): [string, unknown] => [`.${name}`, inner]),
  )
  const lists = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) =>
    ((schema[keyword] ?? []) as unknown[]).map((inner, at): [string, unknown] => [`(${at})`, inner]),
  )
  const items: [string, unknown][] = [
    ['[]', schema.items],
    ['.*', schema.additionalProperties],
    ['', schema.schema],
  ]
  return [...maps, ...lists, ...items]
}
