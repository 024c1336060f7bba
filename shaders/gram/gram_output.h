// SPDX-License-Identifier: Apache-2.0
// The buffers that the Gram product's shaders write to. GLSL only.
#ifndef WEFT_SHARED_GRAM_OUTPUT_H
#define WEFT_SHARED_GRAM_OUTPUT_H

layout(set = 0, binding = 2) writeonly buffer Narrow {
    float narrow[];
};
layout(set = 0, binding = 2) writeonly buffer Wide {
    uvec2 wide[];
};
layout(set = 0, binding = 3) writeonly buffer NarrowMirror {
    float narrow_mirror[];
};
layout(set = 0, binding = 3) writeonly buffer WideMirror {
    uvec2 wide_mirror[];
};

#endif
