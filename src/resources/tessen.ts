import { type Static, Type } from 'typebox';
import { type MetricPoint, MetricPointSchema, metricPointWithDefaults } from './metric-point.ts';
import { flag, optional, validator } from './schema.ts';

/** The setting of usage reports. The backend stores the setting for clients and never reports anything. */
export const TessenSchema = Type.Object({ opt_out: optional(flag()) }, { $id: 'core/v2.TessenConfig' });
export const TelemetrySchema = Type.Array(MetricPointSchema, { $id: 'core/v2.Telemetry' });

export type Tessen = ReturnType<typeof tessenWithDefaults>;

export const tessenWithDefaults = (input: Static<typeof TessenSchema>) => ({ opt_out: input.opt_out ?? false });

const validateTessen = validator('tessen', TessenSchema);
const validateTelemetry = validator('telemetry', TelemetrySchema);

/** @throws InvalidResource */
export const parseTessen = (value: unknown): Tessen => tessenWithDefaults(validateTessen(value));

/** Parses the metrics that clients report. @throws InvalidResource */
export const parseTelemetry = (value: unknown): MetricPoint[] => validateTelemetry(value).map(metricPointWithDefaults);
