-- How a key works through the interface for agents: null is its default (4 seconds, 1 part). The first version's interface
-- knows neither.
alter table api_keys
  -- How long a customer must have been silent before their messages become work.
  add column quiet_seconds smallint,
  -- Into how many messages of the platform one text may be cut.
  add column max_parts smallint;
alter table api_keys add constraint api_keys_quiet_seconds_check check (quiet_seconds between 0 and 30);
alter table api_keys add constraint api_keys_max_parts_check check (max_parts between 1 and 10);
