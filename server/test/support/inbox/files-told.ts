import type { MediaTold } from '../../../src/channels/message-detail.ts'

/** What a platform tells of a picture. */
export const pictureTold: MediaTold = {
  kind: 'image',
  source: { by: 'id', id: '5551' },
  mimeType: 'image/jpeg',
  size: null,
  sha256: null,
  name: null,
  width: null,
  height: null,
  seconds: null,
  waveform: null,
  thumbnail: null,
  isAnimated: false,
}
