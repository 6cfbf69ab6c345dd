import { useEffect, useState } from 'react'
import type { MediaKind } from '../../data/inbox/types.ts'

const sidePx = 88
/** Larger images would use too much memory for a small thumbnail. */
const maxBytes = 30_000_000

/** Returns the thumbnail of an image; null until it is ready, and for other files. */
export function useThumbnail(file: Blob, kind: MediaKind): string | null {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    if ((kind !== 'image' && kind !== 'sticker') || file.size > maxBytes) return
    let isGone = false
    void draw(file).then(
      (dataUrl) => isGone || setUrl(dataUrl),
      () => {},
    )
    return () => {
      isGone = true
    }
  }, [file, kind])
  return url
}

// As a data URL: the Content-Security-Policy does not allow object URLs.
async function draw(file: Blob): Promise<string> {
  const picture = await createImageBitmap(file)
  const shrink = sidePx / Math.min(picture.width, picture.height)
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = sidePx
  const [width, height] = [picture.width * shrink, picture.height * shrink]
  canvas.getContext('2d')?.drawImage(picture, (sidePx - width) / 2, (sidePx - height) / 2, width, height)
  picture.close()
  return canvas.toDataURL('image/webp', 0.8)
}
