-- The trace in which an event was made, for its deliveries to go on from: the ids and the flags of a traceparent. Null
-- unless the process that made it was told to trace.
alter table events add column trace bytea;
