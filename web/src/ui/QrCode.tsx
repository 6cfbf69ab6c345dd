import { encode } from 'uqr'

interface QrCodeProps {
  value: string
  label: string
  /** In pixels. */
  size?: number
  /** Error correction: `L` for screens, `M` for print. */
  ecc?: Correction
}

type Correction = 'L' | 'M'

const border = 3

/** QR code, dark on light in both color schemes, as scanners expect. */
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

/** Downloads the QR code for print. */
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
