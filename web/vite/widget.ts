import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { build, Rolldown } from 'vite'

/** Settings that both parts of the widget share; it has none of the app's plugins and code. */
const common = {
  configFile: false,
  publicDir: false,
  logLevel: 'warn',
} as const

/**
 * Builds the chat widget into `dist/widget`: the script with a fixed name that sites load, and the files of the frame,
 * whose names contain their content's hash. `files.json` tells the server those names.
 */
export async function buildWidget(vite: { build: typeof build }, web: string): Promise<void> {
  const outDir = join(web, 'dist', 'widget')
  const run = async (source: string, output: Rolldown.OutputOptions) => {
    const input = join(web, 'src', 'widget', source)
    const built = await vite.build({
      ...common,
      root: web,
      build: {
        ...{ outDir, emptyOutDir: false, target: 'es2022', assetsInlineLimit: 0, modulePreload: false },
        rolldownOptions: { input, output },
      },
    })
    return (Array.isArray(built) ? built : [built]).flatMap((one) => ('output' in one ? one.output : []))
  }
  await run('loader.ts', { format: 'iife', entryFileNames: 'widget.js' })
  const names = (
    await run('chat.ts', { entryFileNames: 'chat-[hash].js', assetFileNames: 'chat-[hash][extname]' })
  ).map(({ fileName }) => fileName)
  const [script, style] = ['.js', '.css'].map((ending) => names.find((name) => name.endsWith(ending)))
  if (script === undefined || style === undefined) throw new Error('The widget was built without its script or style')
  await writeFile(join(outDir, 'files.json'), JSON.stringify({ script, style }))
}
