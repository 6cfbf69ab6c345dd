import type { MediaTold } from '../../../src/channels/channel-event.ts'

const unknown = { size: null, sha256: null, name: null, width: null, height: null, seconds: null, waveform: null }

/** What a platform tells of a picture. */
export const declaredPicture: MediaTold = {
  ...{ kind: 'image', source: { by: 'id', id: '5551' }, mimeType: 'image/jpeg' },
  ...{ ...unknown, thumbnail: null, isAnimated: false },
}
