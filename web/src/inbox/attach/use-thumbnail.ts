import { useEffect, useState } from 'react'
import type { MediaKind } from '../../data/inbox/types.ts'

const sidePx = 88
/** A larger one would take the browser's memory for a picture of a finger's width. */
const maxBytes = 30_000_000

/** A small picture of a file that is one; null until it is made, and for what is none. */
export function useThumbnail(file: Blob, kind: MediaKind): string | null {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    if ((kind !== 'image' && kind !== 'sticker') || file.size > maxBytes) return
    let isGone = false
    void draw(file).then(
      (drawn) => isGone || setUrl(drawn),
      () => {},
    )
    return () => {
      isGone = true
    }
  }, [file, kind])
  return url
}

// As data: the content security policy lets no object address in.
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
