import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { firstLook } from './vite/first-look.ts'
import { libraryStyles } from './vite/library-styles.ts'

const service = 'http://127.0.0.1:7007'

const ofPanels =
  /[\\/](?:Combobox|Drawer|FocusTrap|Menu|Modal|ModalBase|MultiSelect|Popover|ScrollArea|Select|Switch|Textarea|Tooltip)[\\/]|[\\/](?:@floating-ui|react-remove-scroll|react-remove-scroll-bar|react-style-singleton|use-callback-ref|use-sidecar)[\\/]|[\\/](?:Confirm|DropMenu|DropPanel|Picker|SidePanel)\.tsx$/
/** What lists have in their heads, and forms in each line. */
const ofFields =
  /[\\/](?:Input|InputBase|TextInput|CloseButton|SegmentedControl|FloatingIndicator|InputsGroupFieldset|use-id|use-uncontrolled|use-merged-ref|use-mutation-observer|use-resize-observer|use-delayed-hover|use-timeout)[\\/]|[\\/]PageHeader\.(?:tsx|module\.css)$/
const ofLeads =
  /[\\/]web[\\/]src[\\/](?:leads[\\/](?:fields|filters|labels|table|views)[\\/]|leads[\\/]LeadsPage|data[\\/](?:change-lead|lead-fields|leads|leads-cache|leads-live|people|saved-filters)\.ts)|QueriesObserver|useQueries|use-making/

export default defineConfig({
  plugins: [react(), libraryStyles(), firstLook()],
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
            // What every page begins with is one file, but for the program itself. In the many small ones that it would be
            // otherwise, by who shares what, it is a tenth heavier.
            { name: 'first', tags: ['$initial'], test: (id) => !/\/(?:index\.html|main\.tsx)$/.test(id), priority: 6 },
            { name: 'leads', test: ofLeads, minShareCount: 2, priority: 5 },
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
  server: { proxy: { '/api': service, '/sign-in': service, '/sign-out': service } },
})
