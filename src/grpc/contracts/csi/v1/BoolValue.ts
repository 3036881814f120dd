// Original file: proto/csi.proto


/**
 * On the wire the same as google.protobuf.BoolValue: absent and false are different answers.
 */
export interface BoolValueInput {
  'value'?: (boolean);
}

/**
 * On the wire the same as google.protobuf.BoolValue: absent and false are different answers.
 */
export interface BoolValue {
  'value': (boolean);
}
