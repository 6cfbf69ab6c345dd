import type { Plugin } from 'vite'

const classNames = /@mantine[\\/]core[\\/]esm[\\/].*[\\/](\w+)\.module\.mjs$/
const [base, whole] = ['@mantine/core/styles/global.layer.css', '@mantine/core/styles.layer.css']

/**
 * Has the style of each of the library's components come with the names of its classes, so that a page loads those of what
 * it draws. While one works on the app the library is in one piece, and so is its style.
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
