import compile from 'icu-minify/compile'
import type { Plugin } from 'vite'

const catalog = /[\\/]src[\\/]text[\\/]\w+[\\/]\w+\.json$/

/** Compiles the messages of the catalogs, so that browsers need no parser. */
export function texts(): Plugin {
  return {
    name: 'texts',
    enforce: 'pre',
    resolveId: { filter: { id: /^icu-minify\/compile$/ }, handler: () => '\0compiled' },
    load: { filter: { id: /^\0compiled$/ }, handler: () => 'export default (message) => message' },
    transform: {
      filter: { id: catalog },
      handler: (code) => ({ code: JSON.stringify(JSON.parse(code, compiled)), map: null }),
    },
  }
}

function compiled(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return compile(value)
  } catch (error) {
    throw new Error(`The message ${name} cannot be read: ${value}`, { cause: error })
  }
}
