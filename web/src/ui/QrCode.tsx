import { encode } from 'uqr'

interface QrCodeProps {
  value: string
  label: string
  /** In pixels. */
  size?: number
  /** How much of it may be dirty: `L` for the eye of a phone before a screen, `M` for what may be printed. */
  ecc?: Correction
}

type Correction = 'L' | 'M'

const border = 3

/** A code for a camera, dark on light in every scheme: scanners want it so. */
export function QrCode({ value, label, size = 200, ecc = 'M' }: QrCodeProps) {
  const { side, path } = renderQr(value, ecc)
  return (
    <svg
      role="img"
      aria-label={label}
      width={size}
      height={size}
      viewBox={`0 0 ${side} ${side}`}
      shapeRendering="crispEdges"
      style={{ borderRadius: 6, flex: 'none' }}
    >
      <rect width={side} height={side} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

/** Hands the browser the code as a file to print. */
export function saveQrCode(value: string, name: string): void {
  const { side, path } = renderQr(value, 'M')
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><rect width="${side}" height="${side}" fill="#fff"/><path d="${path}"/></svg>`
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.svg`
  link.click()
  URL.revokeObjectURL(url)
}

function renderQr(value: string, ecc: Correction): { side: number; path: string } {
  const { size, data } = encode(value, { ecc, border })
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return { side: size, path: squares.join('') }
}
