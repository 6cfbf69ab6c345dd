import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { appShell } from './vite/app-shell.ts'
import { libraryStyles } from './vite/library-styles.ts'
import { sharedChunks } from './vite/shared-chunks.ts'
import { texts } from './vite/texts.ts'

const service = 'http://127.0.0.1:7007'

const ofPanels =
  /[\\/](?:Combobox|Drawer|FocusTrap|Menu|Modal|ModalBase|MultiSelect|Popover|ScrollArea|Select|Switch|Textarea|Tooltip)[\\/]|[\\/](?:@floating-ui|react-remove-scroll|react-remove-scroll-bar|react-style-singleton|use-callback-ref|use-sidecar)[\\/]|[\\/](?:Confirm|DropdownMenu|DropdownPanel|Picker|SidePanel)\.tsx$/
/** What lists have in their heads, and forms in each line. */
const ofFields =
  /[\\/](?:Input|InputBase|TextInput|CloseButton|InputsGroupFieldset|use-id|use-uncontrolled|use-merged-ref|use-mutation-observer|use-resize-observer|use-delayed-hover|use-timeout)[\\/]|[\\/]PageHeader\.(?:tsx|module\.css)$/

const { plugin: ofRooms, roomsOf } = sharedChunks({
  frame: ['main.tsx'],
  home: ['home/HomePage.tsx'],
  inbox: ['inbox/InboxPage.tsx'],
  leads: ['leads/LeadsPage.tsx'],
})

/** The file of what one begins with, in the frame or in a room; null for the rest. */
function fileOf(id: string): string | null {
  if (/\/(?:index\.html|main\.tsx)$/.test(id)) return null
  const rooms = roomsOf(id)
  const isFirst = rooms.includes('frame') || rooms.length > 1
  return isFirst ? 'first' : (rooms[0] ?? null)
}

export default defineConfig({
  plugins: [react(), texts(), libraryStyles(), ofRooms, appShell()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // Data addresses would need more room in the content security policy.
    assetsInlineLimit: 0,
    // An inline script would be refused by the content security policy, and every browser we support preloads by itself.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // What every page begins with is one file, but for the program itself, with what two of the rooms share. In the
            // many small ones that it would be otherwise, by who shares what, it is a tenth heavier.
            { name: 'first', test: (id) => fileOf(id) === 'first', priority: 6 },
            {
              name: fileOf,
              debugName: 'rooms',
              test: (id) => fileOf(id) !== null,
              includeDependenciesRecursively: false,
              priority: 5,
            },
            { name: 'fields', test: ofFields, minShareCount: 2, priority: 4 },
            // So is what many pages share: fields and menus would be a file each.
            { name: 'shared', test: (id) => !ofPanels.test(id), minShareCount: 6, priority: 1 },
            // A list begins without the panels that change things, and what is filled in there.
            { name: 'panels', test: ofPanels, minShareCount: 4, priority: 2 },
            // An icon is smaller than what asks for it.
            { name: 'icons', test: /[\\/]@tabler[\\/]icons-react[\\/]/, minShareCount: 2, priority: 3 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': service } },
})
