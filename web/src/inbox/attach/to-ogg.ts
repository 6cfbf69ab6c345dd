import {
  BlobSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  Input,
  OggOutputFormat,
  Output,
  WEBM,
} from 'mediabunny'

/** Copies the audio packets into an Ogg container, which channels accept; browsers record WebM. */
export async function toOgg(webm: Blob): Promise<Blob> {
  const input = new Input({ source: new BlobSource(webm), formats: [WEBM] })
  const track = await input.getPrimaryAudioTrack()
  const decoderConfig = (await track?.getDecoderConfig()) ?? null
  if (track === null || decoderConfig === null) throw new Error('The recording has no sound')
  const source = new EncodedAudioPacketSource('opus')
  const target = new BufferTarget()
  const output = new Output({ format: new OggOutputFormat(), target })
  output.addAudioTrack(source)
  await output.start()
  let beganAt: number | null = null
  for await (const packet of new EncodedPacketSink(track).packets()) {
    beganAt ??= packet.timestamp
    await source.add(packet.clone({ timestamp: packet.timestamp - beganAt }), { decoderConfig })
  }
  await output.finalize()
  if (beganAt === null || target.buffer === null) throw new Error('The recording is empty')
  return new Blob([target.buffer], { type: 'audio/ogg' })
}
