import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const service = 'http://127.0.0.1:7007'

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // Data addresses would need more room in the content security policy.
    assetsInlineLimit: 0,
    // An inline script would be refused by the content security policy, and every browser we support preloads by itself.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { '/api': service, '/sign-in': service, '/sign-out': service } },
})
