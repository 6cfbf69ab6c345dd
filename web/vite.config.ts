import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { appShell } from './vite/app-shell.ts'
import { libraryStyles } from './vite/library-styles.ts'
import { sharedChunks } from './vite/shared-chunks.ts'
import { texts } from './vite/texts.ts'

const service = 'http://127.0.0.1:7007'

const ofPanels =
  /[\\/](?:Combobox|Drawer|FocusTrap|Menu|Modal|ModalBase|MultiSelect|Popover|ScrollArea|Select|Switch|Textarea|Tooltip)[\\/]|[\\/](?:@floating-ui|react-remove-scroll|react-remove-scroll-bar|react-style-singleton|use-callback-ref|use-sidecar)[\\/]|[\\/](?:Confirm|DropdownMenu|DropdownPanel|Picker|SidePanel)\.tsx$/
/** Components in list headers and every form row. */
const ofFields =
  /[\\/](?:Input|InputBase|TextInput|CloseButton|InputsGroupFieldset|use-id|use-uncontrolled|use-merged-ref|use-mutation-observer|use-resize-observer|use-delayed-hover|use-timeout)[\\/]|[\\/]PageHeader\.(?:tsx|module\.css)$/

const { plugin: ofPages, pagesOf } = sharedChunks({
  frame: ['main.tsx'],
  home: ['home/HomePage.tsx'],
  inbox: ['inbox/InboxPage.tsx'],
  leads: ['leads/LeadsPage.tsx'],
})

/** Returns the chunk for what pages load first; null for the rest. */
function fileOf(id: string): string | null {
  if (/\/(?:index\.html|main\.tsx)$/.test(id)) return null
  const rooms = pagesOf(id)
  const isFirst = rooms.includes('frame') || rooms.length > 1
  return isFirst ? 'first' : (rooms[0] ?? null)
}

export default defineConfig({
  plugins: [react(), texts(), libraryStyles(), ofPages, appShell()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // Data URLs would require a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    // The Content-Security-Policy would block an inline script, and all supported browsers preload natively.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // One chunk for what every page loads first, except the entry, together with what two of the pages share.
            // Split by who shares what, it would be 10 % larger.
            { name: 'first', test: (id) => fileOf(id) === 'first', priority: 6 },
            {
              name: fileOf,
              debugName: 'rooms',
              test: (id) => fileOf(id) !== null,
              includeDependenciesRecursively: false,
              priority: 5,
            },
            { name: 'fields', test: ofFields, minShareCount: 2, priority: 4 },
            // Same for what many pages share: fields and menus would each be a chunk.
            { name: 'shared', test: (id) => !ofPanels.test(id), minShareCount: 6, priority: 1 },
            // Lists load before the panels and form fields to edit them.
            { name: 'panels', test: ofPanels, minShareCount: 4, priority: 2 },
            // An icon is smaller than the request for it.
            { name: 'icons', test: /[\\/]@tabler[\\/]icons-react[\\/]/, minShareCount: 2, priority: 3 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': service } },
})
