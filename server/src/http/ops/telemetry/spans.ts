import {
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type Tracer as SdkTracer,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Span, SpanFields, Tracer } from '../../../base/tracing/span.ts'

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  internal: SpanKind.INTERNAL,
} as const

/** What the rooms know as a tracer, by the SDK's. */
export function createTracer(sdk: SdkTracer): Tracer {
  return {
    begin: (kind, name, fields, traceparent) => {
      const parent = traceparent === null ? null : contextOf(traceparent)
      const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
      return spanOf(sdk, sdk.startSpan(name, { kind: kinds[kind], attributes: { ...fields } }, context))
    },
  }
}

function spanOf(sdk: SdkTracer, span: SdkSpan): Span {
  const traceparent = spell(span.spanContext())
  // The same ids are handed on.
  if (!span.isRecording()) {
    const unkept: Span = { traceparent, isKept: false, child: () => unkept, note: () => {}, end: () => {} }
    return unkept
  }
  const here = trace.setSpan(ROOT_CONTEXT, span)
  let hasEnded = false
  return {
    traceparent,
    isKept: true,
    child: (kind, name, fields, links = []) => {
      const linked = links.flatMap((link) => contextOf(link.traceparent) ?? []).map((context) => ({ context }))
      return spanOf(sdk, sdk.startSpan(name, { kind: kinds[kind], attributes: { ...fields }, links: linked }, here))
    },
    note: (fields: SpanFields) => {
      if (!hasEnded) span.setAttributes({ ...fields })
    },
    end: (problem) => {
      if (hasEnded) return
      hasEnded = true
      if (problem !== undefined) {
        span.setAttribute('error.type', problem)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    },
  }
}

const spell = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`

/** Null for what is none, which `readTraceparent` and `spell` never give. */
function contextOf(traceparent: string): SpanContext | null {
  const [, traceId = '', spanId = '', flags = '0'] = traceparent.split('-')
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(context) ? context : null
}
