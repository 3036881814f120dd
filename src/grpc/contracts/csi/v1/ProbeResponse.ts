// Original file: proto/csi.proto

import type { BoolValueInput as _csi_v1_BoolValueInput, BoolValue as _csi_v1_BoolValue } from '../../csi/v1/BoolValue';

export interface ProbeResponseInput {
  /**
   * Absent means ready (CSI specification, Probe).
   */
  'ready'?: (_csi_v1_BoolValueInput | null);
}

export interface ProbeResponse {
  /**
   * Absent means ready (CSI specification, Probe).
   */
  'ready': (_csi_v1_BoolValue | null);
}
