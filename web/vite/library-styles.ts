import type { Plugin } from 'vite'

const classNames = /@mantine[\\/]core[\\/]esm[\\/].*[\\/](\w+)\.module\.mjs$/
const [base, whole] = ['@mantine/core/styles/global.layer.css', '@mantine/core/styles.layer.css']

/**
 * Loads the styles of each library component with its class names, so that pages load only styles of components they
 * use. In development the library is one bundle with one stylesheet.
 */
export function libraryStyles(): Plugin {
  return {
    name: 'library-styles',
    config: (_, { command }) => (command === 'serve' ? { resolve: { alias: { [base]: whole } } } : undefined),
    transform: {
      filter: { id: classNames },
      handler(code, id) {
        const name = classNames.exec(id)?.[1]
        return { code: `import '@mantine/core/styles/${name}.layer.css'\n${code}`, map: null }
      },
    },
  }
}
