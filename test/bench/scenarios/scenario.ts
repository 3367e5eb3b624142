import type { Options } from '../options.ts';
import type { Row } from '../report.ts';

/** A group of figures that are measured together, floors included. */
export interface Scenario {
  /** What `--only` can name. */
  names: readonly string[];
  run(options: Options): Promise<Row[]>;
}
